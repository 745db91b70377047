/** Files that the configuration names, such as those with passwords and keys. */
import { readFileSync } from 'node:fs';

/**
 * A file that the configuration names is not usable. The message begins with the key of the
 * configuration, and has neither the path nor the content.
 */
export class SettingFileError extends Error {
  constructor(key: string, why: string) {
    super(`${key}: ${why}`);
  }
}

/**
 * @param key Where the configuration names the file: `tls.certFile`.
 * @throws SettingFileError
 */
export const readSettingFile = (key: string, path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new SettingFileError(
      key,
      `the file cannot be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
};

/**
 * Reads a password or PIN. The line feed that an editor leaves at the end is not a part of it.
 *
 * @throws SettingFileError
 */
export const readSecretFile = (key: string, path: string): string =>
  readSettingFile(key, path)
    .toString('utf8')
    .replace(/\r?\n$/, '');
