/** One product behind another, configured as an operator would. */
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { TestProduct } from './product.ts';

/** Writes files that are gone after the tests. */
export const testFiles = (): ((name: string, content: string) => string) => {
  const folder = mkdtempSync(join(tmpdir(), 'paraph-gateway-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
};

/** The roots of a product's users, PEM. */
export const rootsOf = async ({ core }: TestProduct): Promise<string> =>
  (await core.custodyOver(core.blocking).trust())
    .map((der) => new X509Certificate(der).toString())
    .join('');

type Hashes = Pick<TestProduct['core']['blocking'], 'keys' | 'hget'>;

/** Transactions of the first shard, with their texts. */
export const jobsIn = async (
  redis: Hashes,
  prefix: string,
): Promise<readonly { readonly id: string; readonly text: string }[]> => {
  const keys = await redis.keys(`{${prefix}-0}:signatures:H???????????????????`);
  const data = await Promise.all(keys.map((key) => redis.hget(key, 'data')));
  return data.flatMap((json, index) =>
    json === null
      ? []
      : [
          {
            id: keys[index]?.slice(-20) ?? '',
            text: JSON.parse(json).MSS_SignatureReq.DataToBeSigned.Data,
          },
        ],
  );
};

/** Texts that were put to the people of a product, by the jobs of its first shard. */
export const textsAt = async ({
  core: { blocking, configuration },
}: TestProduct): Promise<readonly string[]> =>
  (await jobsIn(blocking, configuration.queue.prefix)).map(({ text }) => text);
