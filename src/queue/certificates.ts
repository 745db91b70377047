/**
 * The certificates of signatures, as the key custody stores them, without its keys.
 *
 * The id of a chain is a hash of its certificates, so a wrong chain is detected. Roots have no such
 * check: {@link CertificateStore.trust} is as trustworthy as the Redis.
 */
import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import { z } from 'zod';
import { createBoundedCache } from '../../packages/pki/src/bounded-cache.ts';
import { chainNames } from '../../packages/pki/src/custody.ts';
import type { CertificateChain, KeyCustody } from '../../packages/pki/src/ports.ts';
import { versionName } from '../../packages/pki/src/revocations.ts';

/** A custody without keys. */
export type CertificateStore = Pick<KeyCustody, 'chain' | 'trust'>;

const recordSchema = z.object({ certificate: z.base64() });
const chainsCached = 10_000;

export const createCertificateStore = (
  redis: { get(key: string): Promise<string | null> },
  prefix: string,
): CertificateStore => {
  const chains = createBoundedCache<Promise<CertificateChain | undefined>>(chainsCached);
  const get = (name: string): Promise<string | null> => redis.get(`${prefix}:custody:${name}`);

  const certificateIn = (stored: string | null): Uint8Array => {
    const record = recordSchema.safeParse(JSON.parse(stored ?? 'null'));
    if (!record.success) throw new Error('A certificate is missing in Redis, or damaged');
    return Buffer.from(record.data.certificate, 'base64');
  };

  const load = async (id: string): Promise<CertificateChain | undefined> => {
    const text = await get(`chain:${id}`);
    if (text === null) return undefined;
    const names = chainNames(text);
    const found = await Promise.all(names.map(async (name) => certificateIn(await get(name))));
    const digest = hash('sha256', Buffer.concat(found), 'buffer');
    const [user, issuing, ...above] = found;
    const root = above.pop();
    if (!user || !issuing || !root || digest.subarray(0, 12).toString('base64url') !== id) {
      throw new Error('The certificates of a signature do not fit it');
    }
    return { id, certificates: [user, issuing, ...above, root] };
  };

  return {
    chain: (id) => chains.get(id, () => load(id)),
    trust: async () => {
      const roots = [certificateIn(await get('ca:root'))];
      for (;;) {
        const next = await get(versionName('ca:root', roots.length + 1));
        if (next === null) return roots;
        roots.push(certificateIn(next));
      }
    },
  };
};
