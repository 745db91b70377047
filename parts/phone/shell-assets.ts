/**
 * Files of the phone: scripts that are modules, a style sheet, and the service worker.
 *
 * Their addresses have a hash of all of them, because modules name each other relatively and must
 * be of one release. Another release that is asked for them, while both run, answers with its own.
 */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { PageLanguage } from '../../src/http/pages/languages.ts';

const folder = new URL('./assets/', import.meta.url);

/** The worker is served under an address of its own, which never changes. */
const worker = 'worker.js';

/** The page shows texts as all other places do. */
const shownText = '../../../src/http/pages/shown-text/shown-text.js';

const contents: ReadonlyMap<string, string> = new Map(
  [...readdirSync(folder), shownText]
    .filter((name) => /\.(?:css|js)$/.test(name))
    .map((name) => [basename(name), readFileSync(new URL(name, folder), 'utf8')]),
);

const version = hash('sha256', JSON.stringify([...contents]), 'base64url').slice(0, 12);

export const addressOf = (name: 'phone.css' | 'phone.js'): string =>
  `/phone/assets/${version}/${name}`;

/** The worker's address. It has the language, so that a change of language gives another worker. */
export const workerAddress = (language: PageLanguage): string =>
  `/phone/${worker}?language=${language}`;

/** @param facts What the worker cannot know by itself; constants in front of its script. */
export const workerScript = (facts: Readonly<Record<string, unknown>>): string =>
  [
    ...Object.entries(facts).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`),
    contents.get(worker),
  ].join('\n');

const types: Readonly<Record<string, string>> = {
  css: 'text/css;charset=UTF-8',
  js: 'text/javascript;charset=UTF-8',
};

/** @returns Undefined for a name that no file has. */
export const assetResponse = (asked: string, name: string): Response | undefined => {
  const content = name === worker ? undefined : contents.get(name);
  if (content === undefined) return undefined;
  const isSame = asked === version;
  return new Response(content, {
    headers: {
      'content-type': types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
      'cache-control': isSame ? 'public, max-age=31536000, immutable' : 'no-store',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    },
  });
};
