import { existsSync, readFileSync } from 'node:fs';

/**
 * The version in package.json. The file is looked for upwards, because compiled files lie one
 * folder deeper than sources.
 *
 * @returns Undefined where the program was separated from its package.
 */
export const productVersion = (): string | undefined => {
  let directory = new URL('.', import.meta.url);
  for (;;) {
    const file = new URL('package.json', directory);
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')).version;
    const parent = new URL('..', directory);
    if (parent.href === directory.href) return undefined;
    directory = parent;
  }
};
