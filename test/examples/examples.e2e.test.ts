/**
 * The programs of examples/, run as they stand against a real service, and compiled under strict
 * settings.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const root = join(import.meta.dirname, '../..');
const folder = join(root, 'examples');
const run = promisify(execFile);
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis, { listen: true });
});
afterAll(() => product.stop());

/** What a program prints, line by line. */
const linesOf = async (file: string): Promise<readonly string[]> => {
  const typed = file.endsWith('.ts');
  const { stdout, stderr } = await run(
    process.execPath,
    [...(typed ? ['--import', 'tsx'] : []), join(folder, file)],
    {
      cwd: root,
      timeout: 60_000,
      env: {
        ...process.env,
        // Without the paths of examples/tsconfig.json, which lead a compiler to the sources:
        // `paraph/queue` is what was compiled.
        TSX_TSCONFIG_PATH: join(root, 'tsconfig.json'),
        REDIS_URL: redis.url.replace(/^unix:/, ''),
        PARAPH_QUEUE_PREFIX: product.configuration.queue.prefix,
        PARAPH_URL: product.url,
      },
    },
  );
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
};

describe('the example', () => {
  it('with bare BullMQ prints a signature and why the other request failed', async () => {
    const [signed = '', ...others] = await linesOf('bare-bullmq.mjs');
    expect(JSON.parse(signed)).toMatchObject({
      profile: 'STK-LoA4',
      cms: expect.stringMatching(/^MI/),
    });
    expect(others).toEqual(['_401 USER_CANCEL: User cancelled the request']);

    const folder = mkdtempSync(join(tmpdir(), 'paraph-examples-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'answer.json'), signed);
    writeFileSync(
      join(folder, 'root.pem'),
      await (await fetch(`${product.url}/pki/root.pem`)).text(),
    );
    const document = readFileSync(join(root, 'docs/queue-contract.md'), 'utf8');
    const verify = /```sh\n(node -e .*?)```/s.exec(document)?.[1] ?? '';
    const { stdout } = await run('/bin/sh', ['-c', verify], { cwd: folder });
    expect(stdout.trim()).toBe('Example Shop: confirm order 1?');
  });

  it('with the typed queue prints what became of each request', async () => {
    expect(await linesOf('typed-queue.ts')).toEqual([
      'signed: STK-LoA4, verified',
      'failed: 401 USER_CANCEL',
      'later: scheduled, then cancelled',
      'bulk: 99 of 100 signed',
    ]);
  });

  it('of a workflow ends each order as its person has answered', async () => {
    const [first = '', second = '', ...others] = await linesOf('order-workflow.ts');
    expect(first).toBe('first: shipped, signed: STK-LoA4');
    expect(second).toMatch(/^second: refused, .*401 USER_CANCEL/);
    expect(others).toEqual([]);
  });

  it('over HTTP prints what became of each request', async () => {
    expect(await linesOf('over-http.ts')).toEqual([
      'profiles: some',
      'signed: verified',
      'receipt: accepted',
      'failed: 401 USER_CANCEL',
    ]);
  });
});

describe('the examples', () => {
  it('compile under the strict settings of this project', async () => {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [compiler, '-p', folder]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  }, 180_000);

  it('are all in the list, and the one without Paraph imports nothing of it', () => {
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    const programs = readdirSync(folder).filter((name) => /\.m?[jt]s$/.test(name));
    expect(programs).toHaveLength(4);
    for (const name of programs) expect(readme).toContain(`](${name})`);
    const bare = readFileSync(join(folder, 'bare-bullmq.mjs'), 'utf8');
    const imports = [...bare.matchAll(/from '([^']+)'/g)].map(([, from]) => from);
    expect(
      imports.every((from) => from?.startsWith('node:') || from === 'bullmq' || from === 'ioredis'),
    ).toBe(true);
  });

  it('show the code of docs/queue-contract.md as it stands there', () => {
    const contract = readFileSync(join(root, 'docs/queue-contract.md'), 'utf8');
    const [, block = 'none'] = /```js\n(.*?)```/s.exec(contract) ?? [];
    expect(readFileSync(join(folder, 'bare-bullmq.mjs'), 'utf8')).toContain(block);
  });
});
