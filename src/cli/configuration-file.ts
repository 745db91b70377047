/**
 * The configuration file, for a command that reads or changes it.
 *
 * A change is atomic: it is written to a draft, synced to the disk and renamed into place. The
 * draft has one fixed name and is created before the file is read, so it is also the lock between
 * two commands.
 */
import {
  chmod,
  chown,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { loadConfiguration, parseConfiguration } from '../app/configuration/load.ts';
import type { Configuration } from '../app/configuration/schema.ts';
import { type CliContext, environmentIn, UsageError } from '../command-line/context.ts';

/** @throws UsageError when it is not usable. `paraph config check` says why. */
export const readConfiguration = async (path: string | undefined): Promise<Configuration> => {
  const loaded = await loadConfiguration(path);
  if (!loaded.ok) throw new UsageError('The configuration is not usable: see paraph config check.');
  return loaded.value;
};

export const usableConfiguration = (context: CliContext): Promise<Configuration> =>
  readConfiguration(environmentIn(context).configurationPath);

export type JsonObject = { [member: string]: unknown };

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';

const listed = (problems: readonly string[]): string =>
  problems.map((each) => `\n  ${each}`).join('');

const readOriginal = async (path: string, create: boolean) => {
  try {
    const { mode, uid, gid } = await stat(path);
    return { text: await readFile(path, 'utf8'), mode: mode & 0o777, owner: { uid, gid } };
  } catch (error) {
    const code = codeOf(error);
    // Its hashes of secrets are for the owner alone.
    if (code === 'ENOENT' && create) return { text: '{}', mode: 0o600, owner: undefined };
    throw new UsageError(
      code === 'ENOENT'
        ? 'There is no configuration file at that path; --create begins one.'
        : `The configuration file cannot be read (${code}).`,
    );
  }
};

const objectIn = (text: string): JsonObject => {
  const loaded = parseConfiguration(text);
  if (!loaded.ok) {
    throw new UsageError(`The configuration is not usable as it stands:${listed(loaded.problems)}`);
  }
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new UsageError('The configuration is not a JSON object.');
  return value;
};

const sync = async (path: string): Promise<void> => {
  const file = await open(path, 'r');
  await file.sync().finally(() => file.close());
};

const write = async (
  draftPath: string,
  text: string,
  { mode, owner }: Awaited<ReturnType<typeof readOriginal>>,
): Promise<void> => {
  await writeFile(draftPath, text);
  const { uid, gid } = await stat(draftPath);
  // The service may run as another user, and must still be able to read the file.
  if (owner !== undefined && (owner.uid !== uid || owner.gid !== gid)) {
    await chown(draftPath, owner.uid, owner.gid);
  }
  await chmod(draftPath, mode);
  await sync(draftPath);
};

const beginDraft = async (draftPath: string): Promise<void> => {
  try {
    await (await open(draftPath, 'wx', 0o600)).close();
  } catch (error) {
    const code = codeOf(error);
    throw new UsageError(
      code === 'EEXIST'
        ? `Another command changes this configuration. If none does, one was killed: remove ${draftPath}.`
        : `Nothing can be written beside the configuration file (${code}).`,
    );
  }
};

/**
 * @param change Gets the JSON of the file and returns the new JSON. It may throw UsageError.
 * @throws UsageError when the file cannot be read or written, or would not be usable. It is then
 * unchanged.
 */
export const changeConfigurationFile = async (
  path: string,
  { create }: { readonly create: boolean },
  change: (configuration: JsonObject) => JsonObject,
): Promise<void> => {
  // A link stays a link.
  const target = await realpath(path).catch(() => path);
  const draftPath = join(dirname(target), `.${basename(target)}.draft`);
  await beginDraft(draftPath);
  try {
    const original = await readOriginal(target, create);
    const text = `${JSON.stringify(change(objectIn(original.text)), null, 2)}\n`;
    const loaded = parseConfiguration(text);
    if (!loaded.ok) {
      throw new UsageError(
        `Nothing was written, because the configuration would not be usable:${listed(loaded.problems)}`,
      );
    }
    await write(draftPath, text, original).catch((error: unknown) => {
      throw new UsageError(`Nothing was written: the file cannot be replaced (${codeOf(error)}).`);
    });
    await rename(draftPath, target);
  } catch (error) {
    await rm(draftPath, { force: true });
    throw error;
  }
  await sync(dirname(target));
};
