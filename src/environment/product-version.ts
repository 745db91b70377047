import { readFileSync } from 'node:fs';

/**
 * The version in our package.json. It is looked for upwards, because compiled files lie one folder
 * deeper than sources.
 *
 * @returns Undefined where the program was separated from its package.
 */
export const productVersion = (from = new URL('.', import.meta.url)): string | undefined => {
  try {
    const { name, version } = JSON.parse(readFileSync(new URL('package.json', from), 'utf8'));
    if (name === 'paraph') return version;
  } catch {
    // Not in this directory.
  }
  const parent = new URL('..', from);
  return parent.href === from.href ? undefined : productVersion(parent);
};
