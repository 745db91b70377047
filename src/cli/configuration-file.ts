/**
 * The configuration file, for a command that reads it or adds to it.
 *
 * Whoever reads the file sees all of a change or nothing of it: it is written aside, brought to the disk and renamed into
 * place. The draft has one fixed name and is begun before the file is read, so it is also what keeps two commands at a time
 * from losing the change of one of them.
 */
import { chmod, chown, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { loadConfiguration, parseConfiguration } from '../configuration/load.ts';
import type { Configuration } from '../configuration/schema.ts';
import { UsageProblem } from './context.ts';

/** @throws UsageProblem When it is not usable; what is wrong is for another command to say. */
export const usableConfiguration = async (path: string | undefined): Promise<Configuration> => {
  const loaded = await loadConfiguration(path);
  if (!loaded.ok) throw new UsageProblem('The configuration is not usable: see paraph config check.');
  return loaded.value;
};

export type JsonObject = { [member: string]: unknown };

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';

const listed = (problems: readonly string[]): string => problems.map((each) => `\n  ${each}`).join('');

interface Original {
  readonly text: string;
  readonly mode: number;
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

const readOriginal = async (path: string, create: boolean): Promise<Original> => {
  try {
    const { mode, uid, gid } = await stat(path);
    return { text: await readFile(path, 'utf8'), mode: mode & 0o777, owner: { uid, gid } };
  } catch (error) {
    const code = codeOf(error);
    // It will hold hashes of secrets.
    if (code === 'ENOENT' && create) return { text: '{}', mode: 0o600, owner: undefined };
    throw new UsageProblem(
      code === 'ENOENT'
        ? 'There is no configuration file at that path; --create begins one.'
        : `The configuration file cannot be read (${code}).`,
    );
  }
};

const objectIn = (text: string): JsonObject => {
  const loaded = parseConfiguration(text);
  if (!loaded.ok) {
    throw new UsageProblem(`The configuration is not usable as it stands:${listed(loaded.problems)}`);
  }
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new UsageProblem('The configuration is not a JSON object.');
  return value;
};

const write = async (draftPath: string, text: string, { mode, owner }: Original): Promise<void> => {
  const draft = await open(draftPath, 'r+');
  try {
    await draft.writeFile(text);
    const own = await draft.stat();
    // Otherwise the service, which runs as somebody else than who types here, could not read its file any more.
    if (owner !== undefined && (owner.uid !== own.uid || owner.gid !== own.gid)) {
      await chown(draftPath, owner.uid, owner.gid);
    }
    await chmod(draftPath, mode);
    await draft.sync();
  } finally {
    await draft.close();
  }
};

const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};

/** The file itself where the path is a link, so that the link stays one. */
const targetOf = async (path: string): Promise<string> => realpath(path).catch(() => path);

const beginDraft = async (draftPath: string): Promise<void> => {
  try {
    await (await open(draftPath, 'wx', 0o600)).close();
  } catch (error) {
    const code = codeOf(error);
    throw new UsageProblem(
      code === 'EEXIST'
        ? `Another command changes this configuration. If none does, one was killed: remove ${draftPath}.`
        : `Nothing can be written beside the configuration file (${code}).`,
    );
  }
};

/**
 * @param change Gets the JSON of the file and returns that of the new one. It may throw UsageProblem.
 * @throws UsageProblem When the file cannot be read or written, or would not be usable afterwards. It is then as it was.
 */
export const changeConfigurationFile = async (
  path: string,
  { create }: { readonly create: boolean },
  change: (configuration: JsonObject) => JsonObject,
): Promise<void> => {
  const target = await targetOf(path);
  const draftPath = join(dirname(target), `.${basename(target)}.draft`);
  await beginDraft(draftPath);
  try {
    const original = await readOriginal(target, create);
    const text = `${JSON.stringify(change(objectIn(original.text)), null, 2)}\n`;
    const loaded = parseConfiguration(text);
    if (!loaded.ok) {
      throw new UsageProblem(
        `Nothing was written, because the configuration would not be usable:${listed(loaded.problems)}`,
      );
    }
    await write(draftPath, text, original).catch((error: unknown) => {
      throw new UsageProblem(`Nothing was written: the file cannot be replaced (${codeOf(error)}).`);
    });
    await rename(draftPath, target);
  } catch (error) {
    await rm(draftPath, { force: true });
    throw error;
  }
  await syncDirectory(dirname(target));
};
