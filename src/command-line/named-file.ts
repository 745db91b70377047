/** Files that an argument or an option names. Errors repeat neither the path nor the content. */
import { readFile } from 'node:fs/promises';
import { UsageError } from './context.ts';

/** @param what `The file that --root names`. @throws UsageError */
export const readNamed = (path: string, what: string): Promise<string> =>
  readFile(path, 'utf8').catch(() => {
    throw new UsageError(`${what} cannot be read.`);
  });

/** @throws UsageError */
export const parseJson = (text: string, what: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${what} is no JSON.`);
  }
};
