/**
 * The shell commands of README and docs, page by page as a person pastes them, at one compiled
 * product with a Redis of its own. What is changed is the address, and where `paraph` and
 * `redis-cli` lie. The README starts the program for each `paraph`; the other pages have one
 * process run all of theirs (command-server.mjs).
 *
 * What cannot run here is listed line by line: a list of whole blocks would leave out half of the
 * runbooks.
 */
import { type ChildProcess, execFile, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { socketPathFor } from '../../src/redis/embedded/redis.ts';
import { run as runCommand } from '../cli/terminal.ts';
import { killProcesses, type ProductProcess, startProcess } from '../support/process.ts';
import { blocksOf, pagePaths, readPage, root } from './pages.ts';

const run = promisify(execFile);

/** Lines that are not run, and why. Each rule fits some line. */
const notRun: readonly (readonly [RegExp, string])[] = [
  [
    /^(PATH="\$\(.*\):\$PATH" |PARAPH_CONFIG=\S+ )?npm (start|test|run)\b/,
    'runs a whole machine, often for long: .ci/run does it',
  ],
  [/^bash \.ci\/run/, 'runs these tests'],
  [
    /^npm (ci|install|pack)\b|npm (publish|version) /,
    'the tests of the packages pack and install them',
  ],
  [/^paraph completion /, 'writes where a shell looks, which need not be there'],
  [/paraph sign \+41700092600/, 'needs a person: parts/phone/test/phone.browser.test.ts is one'],
  [
    /^paraph workflow (replay|send|cancel) --/,
    'needs instances that failed alike: workflow-bulk.test.ts orders them',
  ],
  [/^docker /, 'needs docker'],
  [/^(kubectl|helm) /, 'needs a cluster'],
  [
    /^npx paraph clients add --config/,
    'login.e2e.test.ts runs it, and then the program of the page',
  ],
  [/^SHOP_SECRET=/, 'login.e2e.test.ts starts the program of the page'],
  [/^(PARAPH_CONFIG=\S+ )?(npx )?paraph (start|watch|worker)\b/, 'goes on until Ctrl-C'],
  [/^(systemctl|sudo|redis-check-aof) |\/var\/(lib|log)\/redis/, 'is about the machine of Redis'],
  [/^redis-cli .*(-h |CLUSTER )/, 'needs a standby or a cluster'],
  [/^redis-cli --scan .* unlink$/, 'deletes the queues; test/app/store.test.ts does the same'],
  [/^redis-cli (SHUTDOWN|--latency|BGREWRITEAOF)/, 'ends Redis, or does not end itself'],
  [/^curl -s http:\/\/worker:9090/, 'needs a worker on another machine'],
];

/** Programs that a machine may lack. Blocks with them are run where they are. */
const optional = ['jq', 'keytool', 'redis-cli'];

const findProgram = (name: string): string | undefined => {
  try {
    return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
};

const linesOf = (block: string): readonly string[] =>
  block.replaceAll('\\\n', ' ').trimEnd().split('\n');

/** A block without what is not run; undefined when nothing is left. */
const scriptOf = (block: string): string | undefined => {
  // Not run: it reads what the program of its page prints.
  if (block.includes('readFileSync("answer.json")')) return undefined;
  const lines = linesOf(block).filter((line) => !notRun.some(([rule]) => rule.test(line)));
  return lines.some((line) => line !== '' && !line.startsWith('#')) ? lines.join('\n') : undefined;
};

const scripts = pagePaths
  // Run as a whole by tutorial.e2e.test.ts.
  .filter((path) => path !== 'docs/workflow-tutorial.md')
  .map((path) => ({
    path,
    scripts: blocksOf(readPage(path), 'sh').flatMap((block) => scriptOf(block) ?? []),
  }))
  .filter((page) => page.scripts.length > 0);

let directory = '';
let product: ProductProcess;
let commands: ChildProcess;
const missing: string[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'paraph-docs-'));
  const configuration = join(directory, 'paraph.json');
  // The charts find the packages as after `npm install`.
  installPackages(join(directory, 'node_modules'));
  const examples = folderOf('examples/workflows/README.md');
  cpSync(join(root, 'examples/workflows'), examples, { recursive: true });
  cpSync(join(root, 'examples/documents'), folderOf('docs/documents.md'), { recursive: true });
  const { workflows: named, ...others } = JSON.parse(
    readFileSync(join(examples, 'paraph.json'), 'utf8'),
  ) as {
    readonly workflows: readonly string[];
  };
  const workflows = named.map((file) => join(examples, file));
  writeFileSync(configuration, JSON.stringify({ ...others, workflows }));
  const shop = [
    '--id',
    'shop',
    '--name',
    'Shop',
    '--redirect-uri',
    'https://shop.example/callback',
  ];
  expect(await runCommand(['clients', 'add', '--config', configuration, ...shop])).toMatchObject({
    exitCode: 0,
  });
  product = await startProcess({
    PARAPH_DATA: join(directory, 'data'),
    PARAPH_CONFIG: configuration,
  });
  await product.submit({ msisdn: '+41000092209' });
  const programs = join(directory, 'bin');
  mkdirSync(join(programs, 'started'), { recursive: true });
  const install = (name: string, lines: readonly string[]): void =>
    writeFileSync(join(programs, name), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
  const commandSocket = join(directory, 'commands.sock');
  commands = fork(join(import.meta.dirname, 'command-server.mjs'), [commandSocket], {
    // Effects of charts print.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(commands, 'message');
  const client = join(import.meta.dirname, 'command.mjs');
  install('paraph', [`exec "${process.execPath}" "${client}" "${commandSocket}" "$@"`]);
  install('started/paraph', [
    `exec "${process.execPath}" "${join(root, 'dist/src/cli/paraph.js')}" "$@"`,
  ]);
  install('npx', ['exec "$@"']);
  const socket = socketPathFor(realpathSync(join(directory, 'data/redis')));
  const cli = findProgram('redis-cli');
  const server = process.env.PARAPH_REDIS_SERVER ?? '';
  if (cli !== undefined) install('redis-cli', [`exec "${cli}" -s "${socket}" "$@"`]);
  else if (server.includes('.cache')) {
    // It lies beside the redis-server that was unpacked, and is started in the same way.
    const launcher = readFileSync(server, 'utf8')
      .replace('$(dirname "$0")', dirname(server))
      .replace('redis-server" "$@"', `redis-cli" -s "${socket}" "$@"`);
    install('redis-cli', [launcher]);
  } else missing.push('redis-cli');
  missing.push(
    ...optional.filter((name) => name !== 'redis-cli' && findProgram(name) === undefined),
  );
  // What pages list and replay; the index is a moment behind.
  const env = { PARAPH_DATA: join(directory, 'data'), PARAPH_CONFIG: configuration };
  while (
    !(await runCommand(['ls', '--fault', '209', '--json'], { env })).stdout.includes('"code":209')
  )
    await sleep(50);
});

afterAll(async () => {
  commands?.kill();
  await product?.stop();
  await killProcesses();
  rmSync(directory, { recursive: true, force: true });
});

/** Where the scripts of a page run. */
const folderOf = (path: string): string => join(directory, path.replaceAll('/', '-'));

const installPackages = (folder: string): void => {
  writeFileSync(join(dirname(folder), 'package.json'), '{ "private": true }');
  mkdirSync(folder);
  symlinkSync(root, join(folder, 'paraph'));
  for (const name of ['xstate', 'zod'])
    symlinkSync(join(root, 'node_modules', name), join(folder, name));
};

/** Runs a script of a page where the ones before it have left their files. */
const paste = async (path: string, script: string): Promise<{ stdout: string; stderr: string }> => {
  const cwd = folderOf(path);
  mkdirSync(cwd, { recursive: true });
  const { REDIS_URL: _, ...environment } = process.env;
  return run(
    'bash',
    ['-euo', 'pipefail', '-c', script.replaceAll('http://127.0.0.1:8080', product.url)],
    {
      cwd,
      timeout: 60_000,
      env: {
        ...environment,
        PATH: `${path === 'README.md' ? join(directory, 'bin/started:') : ''}${join(directory, 'bin')}:${process.env.PATH}`,
        HOME: directory,
        PARAPH_DATA: join(directory, 'data'),
        PARAPH_CONFIG: join(directory, 'paraph.json'),
        PARAPH_URL: product.url,
        // What pages call "$number".
        number: '+41700092501',
      },
    },
  );
};

describe('the commands', () => {
  it.each(scripts)(
    'of $path work',
    async ({ path, scripts: all }) => {
      for (const script of all.filter((text) => !missing.some((name) => text.includes(name)))) {
        const { stdout, stderr } = await paste(path, script);
        if (script.includes('openssl cms -verify')) {
          expect(stdout).toMatch(/Sign in to Example\?$/);
          expect(stderr).toMatch(/verification successful/i);
        }
        expect(`${stdout}${stderr}`).not.toMatch(/"Fault"|^paraph: /m);
      }
    },
    180_000,
  );

  it('that are not run are all in some page, each for its reason', () => {
    const lines = pagePaths.flatMap((path) => blocksOf(readPage(path), 'sh').flatMap(linesOf));
    for (const [rule, reason] of notRun)
      expect(
        lines.some((line) => rule.test(line)),
        reason,
      ).toBe(true);
  });
});

/** As GitHub makes them of headings. */
const anchorsIn = (page: string): readonly string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('the pages', () => {
  it.each(pagePaths)('link to files and headings that exist (%s)', (path) => {
    const links = readPage(path).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g);
    for (const [, file = '', anchor] of links) {
      const target = file === '' ? path : join(dirname(path), file);
      // A static site has no page for a folder.
      expect(statSync(join(root, target), { throwIfNoEntry: false })?.isFile(), target).toBe(true);
      if (anchor !== undefined)
        expect(anchorsIn(readPage(target)), `${file}#${anchor}`).toContain(anchor);
    }
  });
});

describe('the README', () => {
  it('makes a master key that the service takes', async () => {
    const command = /\$\((node -e '.*')\)/.exec(readPage('README.md'))?.[1] ?? '';
    expect((await paste('README.md', command)).stdout.trim()).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('has badges that say what package.json says', () => {
    const { license, engines } = JSON.parse(readPage('package.json'));
    expect(readPage('docs/pictures/licence.svg')).toContain(`licence: ${license}"`);
    expect(readPage('docs/pictures/node.svg')).toContain(
      `node: ${engines.node.replace('>=', '≥ ')}"`,
    );
  });

  it('has pictures that are small, and one of them moves', () => {
    const [console, login] = ['console.png', 'login.png'].map((name) =>
      readFileSync(join(root, 'docs/pictures', name)),
    );
    expect(console?.length).toBeLessThan(200_000);
    expect(login?.length).toBeLessThan(600_000);
    expect(login?.includes('acTL')).toBe(true);
  });
});
