/**
 * Remembers whether a master key has been used before. A start that finds no certificate authority
 * in Redis asks for it.
 *
 * A new key gets a new authority. When a used key has none, Redis has lost its data, and a new
 * authority would make every earlier certificate worthless.
 *
 * - A key that was made here: `master.key.unused` lies beside its file until there is an authority
 *   (`master-key.ts`). So a file out of a backup counts as used.
 * - A key that was handed in: `master.key.used` in the data directory names, by an HMAC, the last
 *   one that had an authority. Without that directory the key counts as new.
 */
import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { masterKeyFileIn, replacedKeyOf, unusedMarkOf } from '../../packages/pki/src/master-key.ts';
import type { Environment } from '../environment/environment.ts';

export interface KeyUse {
  /** Read it before Redis is asked: another process may make the authority in between. */
  readonly isUsed: boolean;
  /**
   * Whether the data directory notes any key as used. It is that of one service, whose master key
   * may have been replaced since.
   */
  readonly isDirectoryUsed: boolean;
  /** Notes that the key has opened a service that has an authority. May be called again. */
  note(): Promise<void>;
}

export const readKeyUse = async (
  masterKey: Uint8Array,
  { masterKey: given, dataDirectory }: Pick<Environment, 'masterKey' | 'dataDirectory'>,
): Promise<KeyUse> => {
  if (given === undefined) {
    const filePath = masterKeyFileIn(dataDirectory);
    const unusedMark = unusedMarkOf(filePath);
    const isUsed = !existsSync(unusedMark);
    return {
      isUsed,
      isDirectoryUsed: isUsed,
      note: async () => {
        await rm(unusedMark, { force: true });
        await rm(replacedKeyOf(filePath), { force: true });
      },
    };
  }
  const path = join(dataDirectory, 'master.key.used');
  const name = createHmac('sha256', masterKey).update('paraph key in use').digest('base64url');
  const noted = await readFile(path, 'utf8').catch((error: unknown) => {
    // A note that cannot be read must not count as a missing note.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
  const isUsed = noted.trim() === name;
  return {
    isUsed,
    isDirectoryUsed: noted !== '',
    note: async () => {
      if (!isUsed && existsSync(dataDirectory)) await writeFile(path, `${name}\n`, { mode: 0o600 });
    },
  };
};

const wayOut =
  'Restore the data, or set PARAPH_NEW_AUTHORITY=1 for one start: that makes a new authority, and the keys and certificates of before are lost';

/**
 * @param allowed What PARAPH_NEW_AUTHORITY says; undefined when it is not set.
 * @returns Sentences that tell the operator why a Redis without an authority gets none; undefined
 *   when it may get one.
 */
export const findNewAuthorityError = (
  { isUsed }: Pick<KeyUse, 'isUsed'>,
  allowed: Environment['newAuthority'],
): string | undefined => {
  if (allowed === true || (allowed === undefined && !isUsed)) return undefined;
  const what = 'Redis has no certificate authority';
  const probably =
    'its data is gone, it is another Redis or another queue.prefix, or a backup was not loaded (Redis ignores dump.rdb when it expects an append-only file)';
  if (allowed === 'wait')
    return `${what}, and PARAPH_NEW_AUTHORITY=wait leaves making it to paraph authority elsewhere: it was not run yet, or ${probably}.`;
  return allowed === false
    ? `${what}, and PARAPH_NEW_AUTHORITY=0 forbids making one: ${probably}. ${wayOut}.`
    : `${what}, although the master key has been used before: ${probably}. ${wayOut}.`;
};
