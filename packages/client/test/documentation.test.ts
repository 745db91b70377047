/**
 * The TypeScript of the pages about libraries compiles as it stands; that of docs/client.md and
 * docs/queue-contract.md does what is said of it.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';

const redis = testRedis();
const root = join(import.meta.dirname, '../../..');
const libraries = { client: 'packages/client/src/index.ts', queue: 'src/app/package/queue.ts' };
/** What the package gives to a compiler. */
const samplesOf = (page: string): readonly string[] =>
  [...readFileSync(join(root, 'docs', page), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(
    ([, code = '']) => code,
  );
const sampleOf = (page: string): string => samplesOf(page)[0] ?? '';
const samples = { client: sampleOf('client.md'), queue: sampleOf('queue-contract.md') };

let directory = '';
let product: TestProduct;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'paraph-client-docs-'));
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  product = await startTestProduct(redis, { listen: true });
});
afterAll(async () => {
  await product.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** The sample as a module that runs against the product of this test. */
const load = async <T>(
  name: keyof typeof samples,
  replacements: Record<string, string>,
): Promise<T> => {
  let code = samples[name].replace(
    `paraph/${name}`,
    pathToFileURL(join(root, libraries[name])).href,
  );
  for (const [from, to] of Object.entries(replacements)) {
    expect(code).toContain(from);
    code = code.replace(from, to);
  }
  const file = join(directory, `${name}-running.ts`);
  writeFileSync(file, code);
  return (await import(/* @vite-ignore */ file)) as T;
};

it('compiles under the strict settings of this project', async () => {
  const pages = ['client.md', 'evidence.md', 'queue-contract.md', 'workflows.md'];
  for (const page of pages)
    samplesOf(page).forEach((sample, index) => {
      writeFileSync(join(directory, `${page}-${index}.mts`), sample);
    });
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        paths: {
          paraph: [join(root, 'dist/src/app/package/index.d.ts')],
          'paraph/client': [join(root, 'dist/packages/client/src/index.d.ts')],
          'paraph/queue': [join(root, 'dist/src/app/package/queue.d.ts')],
          'paraph/workflow': [join(root, 'dist/parts/workflows/charts/index.d.ts')],
        },
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: ['*.mts'],
    }),
  );
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', directory]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
});

it('names the signer over HTTP', async () => {
  const { whoSigned } = await load<{
    whoSigned(
      msisdn: string,
      text: string,
      trust: readonly Uint8Array[],
      signal: AbortSignal,
    ): Promise<string>;
  }>('client', { 'https://sign.example.com': product.url });
  const trust = await product.core.custodyOver(product.core.commands).trust();
  const { signal } = new AbortController();
  expect(await whoSigned('+41700092501', 'Confirm?', trust, signal)).toMatch(/^MIDCHE/);
  expect(await whoSigned('+41000092401', 'Confirm?', trust, signal)).toBeUndefined();
  await expect(whoSigned('+41700092501', 'Confirm?', [], signal)).rejects.toThrow();
});

describe('the typed producer', () => {
  it('gets signatures through the queue, now and tomorrow, brings them, and takes requests back', async () => {
    const queue = await load<{
      confirm(msisdn: string, text: string): Promise<{ signature?: string; refused?: string }>;
      askTomorrow(people: readonly string[], text: string): Promise<readonly string[]>;
      bring(id: string, attempt: number, cms: string): Promise<string>;
      withdraw(id: string): Promise<string>;
      close(): Promise<void>;
    }>('queue', {
      "redisUrl: 'redis://127.0.0.1:6379'": `redisUrl: '${redis.url}', prefix: '${product.configuration.queue.prefix}'`,
    });
    expect((await queue.confirm('+41700092501', 'Confirm?')).signature).toMatch(/^MI/);
    expect(await queue.confirm('+41000092401', 'Confirm?')).toEqual({ refused: '401 USER_CANCEL' });
    expect(await queue.confirm('nobody', 'Confirm?')).toEqual({ refused: 'msisdn is wrong' });
    const [id = '', ...others] = await queue.askTomorrow(['+41700092501', 'nobody'], 'Confirm?');
    expect(others).toEqual([]);
    expect(await queue.bring(id, 1, 'MIIB')).toBe('refused');
    expect(await queue.withdraw(id)).toBe('cancelled');
    expect(await queue.withdraw('order-1')).toBe('unknown');
    await queue.close();
  });
});
