import { randomBytes } from 'node:crypto';
import { link, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * The master key: 32 bytes that encrypt every private key in the store.
 *
 * Operators hand it in; a fresh clone makes its own in a file. Several processes may start at once
 * on that file, so it is written aside and linked into place: the first link wins, and no process
 * ever reads half a key.
 *
 * Before the key file appears, a mark says that the key is unused. It is removed when something has
 * been encrypted; a key file without a mark counts as used.
 */

export const masterKeyFileIn = (dataDirectory: string): string => join(dataDirectory, 'master.key');
export const unusedMarkOf = (filePath: string): string => `${filePath}.unused`;
/** The key that the last replacement took out of the file. */
export const replacedKeyOf = (filePath: string): string => `${filePath}.before`;

const parse = (text: string, origin: string): Uint8Array => {
  const bytes = Buffer.from(text, 'base64url');
  // Buffer.from ignores foreign characters, padding and stray bits; comparing the result does not.
  if (bytes.length !== 32 || bytes.toString('base64url') !== text)
    throw new Error(
      `the master key in ${origin} is not base64url text of 32 bytes (43 characters)`,
    );
  return bytes;
};

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

const readKeyFile = async (filePath: string): Promise<Uint8Array | undefined> => {
  const file = await open(filePath, 'r').catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    // The mode of the open file, which is the one that is read.
    const { mode } = await file.stat();
    if ((mode & 0o077) !== 0)
      throw new Error(
        `the master key file ${filePath} is open to other users: chmod 600 it, or replace it`,
      );
    return parse((await file.readFile('utf8')).trim(), `the file ${filePath}`);
  } finally {
    await file.close();
  }
};

/** Writes a key aside, and has it put into place. It leaves no draft. */
const withDraft = async (
  filePath: string,
  masterKey: Uint8Array,
  place: (draftPath: string) => Promise<void>,
): Promise<void> => {
  await mkdir(dirname(filePath), { recursive: true, mode: 0o700 });
  const draftPath = `${filePath}.${randomBytes(6).toString('hex')}`;
  try {
    const draft = await open(draftPath, 'wx', 0o600);
    try {
      await draft.writeFile(`${Buffer.from(masterKey).toString('base64url')}\n`);
      // It must not be empty after a power cut: keys are encrypted under it from now on.
      await draft.sync();
    } finally {
      await draft.close();
    }
    await place(draftPath);
  } finally {
    await rm(draftPath, { force: true });
  }
};

const createKeyFile = (filePath: string): Promise<void> =>
  withDraft(filePath, randomBytes(32), async (draftPath) => {
    await writeFile(unusedMarkOf(filePath), '', { mode: 0o600 });
    await link(draftPath, filePath).catch((error: unknown) => {
      // Another process was first: its key is read next.
      if (!isCode(error, 'EEXIST')) throw error;
    });
  });

/**
 * Replaces the key in the file by a new one. The replaced one is kept beside it, because Redis may
 * tell that it has written something before that is on its disk: after a power cut in this second,
 * the replaced key is the one that opens the service. The next start that opens it removes the
 * copy.
 *
 * @param before Runs before the file changes: from then on the new key opens the service, too.
 */
export const replaceKeyFile = async (
  filePath: string,
  before: (masterKey: Uint8Array) => Promise<void>,
): Promise<Uint8Array> => {
  const masterKey = randomBytes(32);
  await withDraft(filePath, masterKey, async (draftPath) => {
    await before(masterKey);
    await rm(replacedKeyOf(filePath), { force: true });
    await link(filePath, replacedKeyOf(filePath));
    await rename(draftPath, filePath);
    const folder = await open(dirname(filePath), 'r');
    await folder.sync().finally(() => folder.close());
  });
  return masterKey;
};

/**
 * The master key, from the environment's value or else from the file, which is created at the first
 * start.
 *
 * @param environmentValue Base64url of 32 bytes; an empty text is a mistake, not an absent value.
 * @param filePath         Mode 0600; its folder is created with 0700.
 * @throws When the value or the file is unusable, or the file is readable by group or others.
 */
export const masterKeyFrom = async ({
  environmentValue,
  filePath,
}: {
  readonly environmentValue?: string | undefined;
  readonly filePath: string;
}): Promise<Uint8Array> => {
  if (environmentValue !== undefined) return parse(environmentValue, 'the environment');
  const present = await readKeyFile(filePath);
  if (present !== undefined) return present;
  await createKeyFile(filePath);
  const created = await readKeyFile(filePath);
  if (created === undefined)
    throw new Error(`the master key file ${filePath} vanished while it was created`);
  return created;
};
