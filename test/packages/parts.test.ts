/**
 * The product without each of its parts: its folder and its lines in the two lists are taken away, and what is left
 * compiles, starts, signs, and does not speak of it any more.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';

const root = join(import.meta.dirname, '../..');
// Below the project, whose node_modules it finds.
mkdirSync(join(root, '.cache'), { recursive: true });
const folder = mkdtempSync(join(root, '.cache', 'without-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const parts = readdirSync(join(root, 'parts'), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
/** What must not be mentioned without a part, where that is not the name of its folder. */
const named: Readonly<Record<string, RegExp>> = { gateway: /gateways|behind a gateway|"const": ?"gateway"/ };
const redis = testRedis();

const writeKeys =
  "import { z } from 'zod'; import { configurationSchema } from './dist/src/configuration/schema.js'; console.log(JSON.stringify(z.toJSONSchema(configurationSchema, { io: 'input', unrepresentable: 'any' }), null, 1));";

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
    const named = new RegExp(`^import \\{ (\\w+) \\} from '\\./${part}/.*\\n`, 'm').exec(text);
    expect(named, `${list} names ${part}`).not.toBeNull();
    const [line = '', name = ''] = named ?? [];
    text = text.replace(line, '').replace(new RegExp(`\\b${name}\\b,? ?`), '');
    writeFileSync(file, text);
  }
  return path;
};

const run = (cwd: string, ...words: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd, encoding: 'utf8' });
  expect(`${status} ${stderr}${status === 0 ? '' : stdout}`).toBe('0 ');
  return stdout;
};

/** Starts the product, signs, and asks what it says of itself. */
const use = async (
  path: string,
  part: string,
): Promise<{ readonly message: string; readonly texts: string }> => {
  const config = join(path, 'paraph.json');
  writeFileSync(config, JSON.stringify({ sandbox: true, queue: { prefix: `${redis.prefix}-${part}` } }));
  const child = spawn(process.execPath, ['dist/src/cli/paraph.js', 'start'], {
    cwd: path,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      ...{ PORT: '0', REDIS_URL: redis.url, PARAPH_CONFIG: config, PARAPH_DATA: join(path, 'data') },
    },
  });
  try {
    let output = '';
    for await (const chunk of child.stdout) {
      output += chunk;
      if (output.includes('ready at http')) break;
    }
    const url = /ready at (http:\S+)/.exec(output)?.[1] ?? '';
    const answer = await fetch(`${url}/rest/service/sign`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(signRequest()),
    });
    const texts = await Promise.all(
      ['/openapi.json', '/docs', '/metrics'].map(async (at) => {
        const response = await fetch(`${url}${at}`);
        expect([at, response.status]).toEqual([at, 200]);
        return response.text();
      }),
    );
    return { message: await answer.text(), texts: texts.join('\n') };
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'close');
  }
};

describe.each(parts)('without %s', (part) => {
  it('the product compiles, starts and signs, and does not mention it', async () => {
    const path = without(part);
    run(path, join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json');
    for (const room of ['console', 'phone']) {
      const assets = join('src', room, 'assets');
      cpSync(join(root, assets), join(path, 'dist', assets), { recursive: true });
    }
    cpSync(join(root, 'src/shown-text/shown-text.js'), join(path, 'dist/src/shown-text/shown-text.js'));
    const { message, texts } = await use(path, part);
    expect(message).toContain('"StatusMessage":"SIGNATURE"');
    const written = (of: string): readonly string[] => [
      run(of, 'dist/src/cli/paraph.js', '--help'),
      run(of, '--input-type=module', '--eval', writeKeys),
    ];
    const name = named[part] ?? new RegExp(part, 'i');
    expect(written(root).join('\n')).toMatch(name);
    for (const text of [...written(path), texts])
      expect(text.split('\n').filter((line) => name.test(line))).toEqual([]);
  }, 180_000);
});
