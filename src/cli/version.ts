import { readFileSync } from 'node:fs';

/**
 * The version in package.json. The file is looked for upwards, since this one runs from src/ in development and from
 * dist/src/ otherwise.
 */
export const readVersion = (from = new URL('.', import.meta.url)): string => {
  try {
    const { name, version } = JSON.parse(readFileSync(new URL('package.json', from), 'utf8'));
    if (name === 'paraph') return String(version);
  } catch {
    // Not in this directory.
  }
  const parent = new URL('..', from);
  return parent.href === from.href ? 'unknown' : readVersion(parent);
};
