/** What the pages load. Their addresses carry a hash of the content, so that a browser may keep them for ever. */
import { hash } from 'node:crypto';
import { icon } from './mark.ts';
import { script } from './script.ts';
import { stylesheet } from './stylesheet.ts';

const version = (content: string): string => hash('sha256', content, 'base64url').slice(0, 12);

export const assetPaths = {
  stylesheet: `/admin/assets/console.css?v=${version(stylesheet)}`,
  script: `/admin/assets/console.js?v=${version(script)}`,
  icon: `/admin/assets/icon.svg?v=${version(icon)}`,
} as const;

/** By the last part of their path. */
export const assets: ReadonlyMap<string, { readonly type: string; readonly content: string }> = new Map([
  ['console.css', { type: 'text/css; charset=utf-8', content: stylesheet }],
  ['console.js', { type: 'text/javascript; charset=utf-8', content: script }],
  ['icon.svg', { type: 'image/svg+xml', content: icon }],
]);
