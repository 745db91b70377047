/**
 * The product without each of its parts: its folder and its lines in the two lists are taken away,
 * and what is left compiles, starts, signs, and does not speak of it any more.
 */
import { spawn, spawnSync } from 'node:child_process';
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
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';

const root = join(import.meta.dirname, '../..');
// Below the project, whose node_modules it finds.
mkdirSync(join(root, '.cache'), { recursive: true });
const folder = mkdtempSync(join(root, '.cache', 'without-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

const parts = readdirSync(join(root, 'parts'), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
/** What must not be mentioned without a part, where that is not the name of its folder. */
const named: Readonly<Record<string, RegExp>> = {
  gateway: /gateways|behind a gateway|"const": ?"gateway"/,
  // Programs are processes, too.
  processes: /\bworkflows\b|^ +workflow |signature process|evidence record|maxOpen|"mail"|\/tasks/i,
};
const nameOf = (part: string): RegExp => named[part] ?? new RegExp(part, 'i');
const redis = testRedis();

/** @returns The folder of the product without the part. */
const without = (part: string): string => {
  const path = join(folder, part);
  for (const name of ['packages/engine/src', 'src', 'machines', 'workers', 'parts'])
    cpSync(join(root, name), join(path, name), {
      recursive: true,
      filter: (from) => from !== join(root, 'parts', part),
    });
  for (const name of ['tsconfig.json', 'tsconfig.build.json', 'package.json'])
    cpSync(join(root, name), join(path, name));
  for (const list of ['parts.ts', 'configuration.ts']) {
    const file = join(path, 'parts', list);
    let text = readFileSync(file, 'utf8');
    const found = new RegExp(`^import \\{ (\\w+) \\} from '\\./${part}/.*\\n`, 'm').exec(text);
    // One without members of the configuration is in the first list alone.
    const isListed = list === 'parts.ts' || existsSync(join(root, 'parts', part, list));
    expect([list, found !== null]).toEqual([list, isListed]);
    const [line = '', name = ''] = found ?? [];
    if (found === null) continue;
    text = text.replace(line, '').replace(new RegExp(`\\b${name}\\b,? ?`), '');
    writeFileSync(file, text);
  }
  // What the npm package exports of the part is one statement for each of its files.
  for (const name of readdirSync(join(path, 'src/package'))) {
    const file = join(path, 'src/package', name);
    const exported = new RegExp(
      `^export [^;]*? from '\\.\\./\\.\\./parts/${part}/[^']*';\\n`,
      'gm',
    );
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(exported, ''));
  }
  return path;
};

const run = (cwd: string, ...words: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd, encoding: 'utf8' });
  expect(`${status} ${stderr}${status === 0 ? '' : stdout}`).toBe('0 ');
  return stdout;
};

/** Starts the product and signs. @returns All that it says of itself, by line. */
const use = async (path: string): Promise<readonly string[]> => {
  const data = mkdtempSync(join(folder, 'data-'));
  const config = join(data, 'paraph.json');
  writeFileSync(
    config,
    JSON.stringify({ sandbox: true, queue: { prefix: `${redis.prefix}-${basename(data)}` } }),
  );
  const child = spawn(process.execPath, ['dist/src/cli/paraph.js', 'start'], {
    cwd: path,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      REDIS_URL: redis.url,
      PARAPH_CONFIG: config,
      PARAPH_DATA: data,
    },
  });
  try {
    let output = '';
    for await (const chunk of child.stdout) {
      output += chunk;
      if (output.includes('Ctrl-C stops it')) break;
    }
    const url = /ready at (http:\S+)/.exec(output)?.[1] ?? '';
    const answer = await fetch(`${url}/rest/service/sign`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(signRequest()),
    });
    expect(await answer.text()).toContain('"StatusMessage":"SIGNATURE"');
    const pages = await Promise.all(
      ['/', '/openapi.json', '/docs', '/metrics'].map(async (at) => {
        const response = await fetch(`${url}${at}`);
        expect([at, response.status]).toEqual([at, 200]);
        return response.text();
      }),
    );
    const help = run(path, 'dist/src/cli/paraph.js', '--help');
    const keys = run(
      path,
      '--input-type=module',
      '--eval',
      "import { z } from 'zod'; import { configurationSchema } from './dist/src/configuration/schema.js'; console.log(JSON.stringify(z.toJSONSchema(configurationSchema, { io: 'input', unrepresentable: 'any' }), null, 1));",
    );
    return [output, ...pages, help, keys].flatMap((text) => text.split('\n'));
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'close');
  }
};

let whole: readonly string[] = [];
beforeAll(async () => {
  whole = await use(root);
}, 600_000);

describe.each(parts)('without %s', (part) => {
  it('the product compiles, starts and signs, and does not mention it', async () => {
    const path = without(part);
    run(path, join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json');
    for (const room of ['console', 'phone']) {
      const assets = join('src', room, 'assets');
      cpSync(join(root, assets), join(path, 'dist', assets), { recursive: true });
    }
    cpSync(
      join(root, 'src/shown-text/shown-text.js'),
      join(path, 'dist/src/shown-text/shown-text.js'),
    );
    const mentions = (line: string): boolean => nameOf(part).test(line);
    expect(whole.filter(mentions)).not.toEqual([]);
    expect((await use(path)).filter(mentions)).toEqual([]);
  }, 600_000);
});
