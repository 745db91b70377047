/**
 * The commands of the README, run as they stand but for the address and what starts a whole machine (`npm start`,
 * `npm test`, containers).
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen, type RunningServer } from '../src/http/server.ts';
import { startTestProduct, type TestProduct } from './support/product.ts';
import { testRedis } from './support/redis.ts';

const redis = testRedis();
const run = promisify(execFile);
const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
const blocks = [...readme.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block ?? '');

let product: TestProduct;
let server: RunningServer;
let directory = '';

beforeAll(async () => {
  product = await startTestProduct(redis);
  server = await listen({
    fetch: product.api.fetch,
    host: '127.0.0.1',
    port: 0,
    requestTimeoutMs: 10_000,
    headersTimeoutMs: 5000,
    tls: undefined,
  });
  directory = mkdtempSync(join(tmpdir(), 'paraph-readme-'));
});

afterAll(async () => {
  await server.drain();
  await product.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Runs the blocks that hold a word, one after the other, as a person pastes them. */
const paste = async (word: string): Promise<{ stdout: string; stderr: string }> => {
  const block = blocks.find((text) => text.includes(word));
  if (block === undefined) throw new Error(`the README has no block with ${word}`);
  const script = block.replaceAll('http://127.0.0.1:8080', server.url);
  return run('bash', ['-euc', script], { cwd: directory });
};

describe('the README', () => {
  it('shows a signature that curl gets and openssl verifies', async () => {
    await paste('curl -s http://127.0.0.1:8080/rest/service/sign');
    expect(readFileSync(join(directory, 'answer.json'), 'utf8')).toContain('"StatusMessage":"SIGNATURE"');
    const { stdout, stderr } = await paste('openssl cms -verify');
    expect(stdout).toBe('Sign in to Example?');
    expect(stderr).toMatch(/verification successful/i);
  });

  it('makes a master key that the service takes', async () => {
    const command = /\$\((node -e '.*')\)/.exec(readme)?.[1] ?? '';
    const { stdout } = await run('bash', ['-euc', command]);
    expect(stdout.trim()).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('names only files that exist', () => {
    for (const [, path] of readme.matchAll(/\]\((?!http)([^)#]+)\)/g)) {
      expect(readFileSync(join(import.meta.dirname, '..', path ?? ''), 'utf8').length).toBeGreaterThan(0);
    }
  });
});
