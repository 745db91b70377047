/**
 * What a stranger installs: the seven packages as npm packs them, in empty folders, with an
 * environment that knows nothing of this repository. Asks the npm registry for what is not in npm's
 * cache.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntilClosed } from '../../src/redis/embedded/redis-socket.ts';
import { compile, run as runCommand } from '../support/command.ts';
import { untilReady } from '../support/process.ts';
import { type RunningRedis, startRedisServer } from '../support/redis-server.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'paraph-packages-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

const manifestOf = (path: string) =>
  JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
const { version, dependencies, devDependencies } = manifestOf('.');
const small = ['client', 'engine', 'pki', 'protocol', 'queue', 'relying-party'];

const environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_|PARAPH_|NODE_|VITEST|REDIS_URL)/.test(name),
    ),
  ),
  XDG_CACHE_HOME: join(folder, 'cache'),
};
const run = (cwd: string, ...words: readonly [string, ...string[]]): string =>
  runCommand(cwd, words, environment);
const tsc = (cwd: string, configuration?: string): string =>
  compile(cwd, configuration, environment);
/** The first program of a README. */
const programIn = (readme: string): string =>
  /```ts\n(.*?)```/s.exec(readFileSync(readme, 'utf8'))?.[1] ?? '';

/** An empty project with these packages in it. */
const project = (name: string, ...packages: readonly string[]): string => {
  const path = join(folder, name);
  mkdirSync(path);
  const compilerOptions = { module: 'nodenext', target: 'es2023', types: ['node'], strict: true };
  writeFileSync(join(path, 'package.json'), '{ "private": true, "type": "module" }');
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  run(path, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...packages);
  return path;
};
const tarball = (name: string): string => join(folder, `${name}-${version}.tgz`);
const named = (...names: readonly string[]): readonly string[] =>
  names.map((name) => `${name}@${dependencies[name] ?? devDependencies[name]}`);
const packagesIn = (path: string): readonly string[] =>
  Object.keys(JSON.parse(readFileSync(join(path, 'package-lock.json'), 'utf8')).packages)
    .filter(Boolean)
    .toSorted();

beforeAll(() => {
  const folders = ['.', ...small.map((name) => `./packages/${name}`)];
  run(root, 'npm', 'pack', '--pack-destination', folder, ...folders);
}, 600_000);

describe('the package paraph', () => {
  it('holds what runs and nothing else', () => {
    const files = run(folder, 'tar', '-tzf', tarball('paraph')).trim().split('\n').sort();
    const allowed =
      /^package\/(dist\/(packages\/[a-z-]+\/src|src|machines|workers|parts)\/.*(\.js|\.d\.ts|\/reference\.js\.gz|\/assets\/(board|console|phone|reader)\.css|documents\/assets\/(pdfjs\/.+|(LICENSE-)?LiberationSans(-Regular)?\.(ttf|txt)))|scripts\/[a-z-]+\.mjs|(docs|examples|ops)\/.*\.(md|json|svg|png|mjs|js|ts|yml)|(LICENSE|[A-Z]+\.md|package\.json))$/;
    expect(files.filter((file) => !allowed.test(file))).toEqual([]);
    const scripts = ['apt', 'node-version', 'paraph', 'redis-binary', 'run', 'setup'];
    expect(files.filter((file) => file.includes('/scripts/'))).toEqual(
      scripts.map((name) => `package/scripts/${name}.mjs`),
    );
  });

  it('serves imports with types and require, starts, signs, runs the examples and stops', async () => {
    const path = project(
      'whole',
      tarball('paraph'),
      ...named('bullmq', 'ioredis', 'xstate', 'zod', '@types/node'),
    );
    const entries = Object.keys(manifestOf('.').exports).map((name) => name.replace('.', 'paraph'));
    const words = entries
      .map((entry) => `Object.keys(require('${entry}')).length > 0`)
      .join(' && ');
    writeFileSync(join(path, 'all.cjs'), `console.log(${words});`);
    expect(run(path, process.execPath, 'all.cjs')).toBe('true\n');

    for (const name of readdirSync(join(root, 'examples')).filter((file) =>
      /\.m?[jt]s$/.test(file),
    ))
      cpSync(join(root, 'examples', name), join(path, name));
    const imports = entries.filter((entry) => !entry.endsWith('.json'));
    const lines = imports.map((entry, at) => `export * as entry${at} from '${entry}';`);
    writeFileSync(join(path, 'all.ts'), lines.join('\n'));
    writeFileSync(
      join(path, 'wrong.ts'),
      `import { createClient } from 'paraph/client';\ncreateClient(1);\n`,
    );
    expect(() => tsc(path)).toThrow(/^[^\n]*wrong\.ts\(2,14\): error TS2345[^\n]*\n$/);

    const started = spawn('npx', ['paraph', 'start'], {
      cwd: path,
      env: { ...environment, PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = once(started, 'close');
    const { url } = await untilReady(started);
    Object.assign(environment, { PARAPH_URL: url });
    try {
      expect(run(path, 'npx', 'paraph', 'sign', '+41700092501', 'Sign in to Example?')).toMatch(
        /signature +verified/,
      );
      const example = (name: string): string => run(path, process.execPath, name);
      expect(example('over-http.js')).toContain('signed: verified');
      expect(example('typed-queue.js')).toContain('bulk: 99 of 100 signed');
      expect(example('order-workflow.js')).toContain('first: shipped');
      expect(example('bare-bullmq.mjs')).toContain('_401 USER_CANCEL');
    } finally {
      // Of npx: what it has started must end, too.
      started.kill('SIGTERM');
    }
    await closed;
    expect(await waitUntilClosed(join(path, '.paraph/redis/redis.sock'), 20_000)).toBe(true);
    expect(existsSync(join(path, 'node_modules/paraph/.cache'))).toBe(false);
  }, 180_000);
});

describe('the package @paraph/engine', () => {
  const peers = ['bullmq', 'ioredis', 'xstate'];
  /** What each program prints in the end. */
  const programs: Readonly<Record<string, RegExp>> = {
    readme: /^started\ntaken\n.*: shipped for 4200\n$/,
    approval: /^asked: May we go on\?\nanswer: taken\napproval: approved\n$/,
    children: /^house: PUSH, OPENED\n$/,
    effects: /^mails: Welcome; Here is how to begin\n$/,
    'fan-out': /^album: 0 pictures left\n$/,
    'other-workflow': /^order: delivered to Anna\n$/,
    reminder: /^reminders: 3\n$/,
    retry: /^payment: charged\n$/,
    saga: /^trip: failed, book flight, book hotel, cancel flight; No room is free\n$/,
    'send-or-start': /^may buy: taken\ncart: bread, milk\n$/,
    versions: /^old: Good day\nnew: Hello\n$/,
  };
  let path: string;
  let redis: RunningRedis;

  beforeAll(async () => {
    path = project('engine', tarball('paraph-engine'), ...named(...peers, '@types/node'));
    redis = await startRedisServer();
  }, 120_000);
  afterAll(() => redis?.stop());

  it('brings nothing but its peers, holds what runs, and loads nothing else', () => {
    const installed = join(path, 'node_modules/@paraph/engine');
    expect(
      JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')).dependencies,
    ).toBeUndefined();
    expect(packagesIn(path)).toEqual(
      expect.arrayContaining(peers.map((name) => `node_modules/${name}`)),
    );
    expect(packagesIn(path)).not.toContain('node_modules/zod');
    const allowed =
      /^package\/(dist\/.*(\.js|\.d\.ts)|examples\/[a-z-]+\.ts|examples\/README\.md|(LICENSE|README\.md|package\.json))$/;
    const files = run(folder, 'tar', '-tzf', tarball('paraph-engine')).trim().split('\n');
    expect(files.filter((file) => !allowed.test(file))).toEqual([]);
    expect(
      run(path, process.execPath, '-e', "console.log(typeof require('@paraph/engine').activity)"),
    ).toBe('function\n');
  });

  it('compiles as its README and its examples show it, and each program runs', async () => {
    const installed = join(path, 'node_modules/@paraph/engine');
    writeFileSync(join(path, 'readme.ts'), programIn(join(installed, 'README.md')));
    const examples = readdirSync(join(installed, 'examples')).filter((file) =>
      file.endsWith('.ts'),
    );
    for (const name of examples) cpSync(join(installed, 'examples', name), join(path, name));
    expect(['readme.ts', ...examples].toSorted()).toEqual(
      ['run', ...Object.keys(programs)].map((name) => `${name}.ts`).toSorted(),
    );

    const strict = { target: 'es2023', types: ['node'], strict: true };
    const bundler = {
      module: 'esnext',
      moduleResolution: 'bundler',
      allowImportingTsExtensions: true,
    };
    const configure = (name: string, compilerOptions: object): void =>
      writeFileSync(join(path, name), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    configure('bundler.json', { ...strict, ...bundler, noEmit: true });
    configure('nodenext.json', {
      ...strict,
      module: 'nodenext',
      rewriteRelativeImportExtensions: true,
      outDir: 'out',
    });
    tsc(path, 'bundler.json');
    tsc(path, 'nodenext.json');

    Object.assign(environment, { REDIS_URL: `redis://127.0.0.1:${redis.port}` });
    const printed = Object.keys(programs).map((name) => [
      name,
      run(path, process.execPath, join('out', `${name}.js`)),
    ]);
    for (const [name = '', text] of printed) expect(text, name).toMatch(programs[name] ?? /^$/);
  }, 180_000);
});

describe.each([
  ['client', ['zod']],
  ['pki', ['jose', 'zod']],
  ['protocol', ['zod']],
  ['relying-party', ['jose']],
])('the package @paraph/%s', (name, dependencies) => {
  const from = join('packages', name);

  it('brings nothing else, is what paraph exports, and compiles as its README shows it', async () => {
    const path = project(name, tarball(`paraph-${name}`), ...named('@types/node'));
    expect(packagesIn(path)).toEqual(
      [`@paraph/${name}`, '@types/node', ...dependencies, 'undici-types']
        .toSorted()
        .map((one) => `node_modules/${one}`),
    );
    writeFileSync(join(path, 'sample.ts'), programIn(join(root, from, 'README.md')));
    tsc(path);
    const list = `console.log(Object.keys(require('@paraph/${name}')).sort().join())`;
    const exported = Object.keys(await import(join(root, from, 'src/index.ts'))).sort();
    expect(run(path, process.execPath, '-e', list)).toBe(`${exported.join()}\n`);
  }, 180_000);
});

it('the program in the README of @paraph/pki signs and verifies', () => {
  const path = project('pki-program', tarball('paraph-pki'), ...named('@types/node'));
  writeFileSync(join(path, 'sample.ts'), programIn(join(root, 'packages/pki/README.md')));
  tsc(path);
  expect(run(path, process.execPath, 'sample.js')).toMatch(/^signed by MIDCHE[A-Z0-9]{10}\n$/);
}, 180_000);

it('the program in the README of @paraph/protocol reads a body', () => {
  const path = project('protocol-program', tarball('paraph-protocol'), ...named('@types/node'));
  writeFileSync(join(path, 'sample.ts'), programIn(join(root, 'packages/protocol/README.md')));
  tsc(path);
  expect(run(path, process.execPath, 'sample.js')).toMatch(/^_102 MISSING_PARAM: .*\n$/);
}, 180_000);

it('@paraph/queue brings what it needs, nothing that serves, and compiles as its README shows it', () => {
  const path = project('queue', tarball('paraph-queue'), ...named('@types/node'));
  writeFileSync(join(path, 'sample.ts'), programIn(join(root, 'packages/queue/README.md')));
  tsc(path);
  const files = run(folder, 'tar', '-tzf', tarball('paraph-queue')).trim().split('\n');
  const serves = /dist\/(parts|src\/(http|oauth|console|app|cli|part|command-line|telemetry))\//;
  expect(files.filter((file) => serves.test(file))).toEqual([]);
  const list = "console.log(typeof require('@paraph/queue').createSignatureQueue)";
  expect(run(path, process.execPath, '-e', list)).toBe('function\n');
}, 180_000);
