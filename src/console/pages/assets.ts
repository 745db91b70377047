/**
 * Style sheet, script and icon. Their addresses have a hash of the content, so browsers may cache
 * them for ever.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { icon, type Schemes, themeCss } from '../../theme.ts';

/** Colours that only the console has. */
const own: Schemes = {
  light: { tint: '#e8eef7', open: '#7d5408', 'bar-good': '#3f7d4f', 'bar-bad': '#b5483a' },
  dark: { tint: '#1d2a3d', open: '#e7b173', 'bar-good': '#6fae7e', 'bar-bad': '#d9786a' },
};

const read = (name: string): string => readFileSync(new URL(`../assets/${name}`, import.meta.url), 'utf8');

/** By the last part of their path. */
export const assets = {
  'console.css': {
    type: 'text/css; charset=utf-8',
    content: `${themeCss([own], 'screen and (prefers-color-scheme:dark)')}\n${read('console.css')}`,
  },
  'console.js': { type: 'text/javascript; charset=utf-8', content: read('console.js') },
  'icon.svg': { type: 'image/svg+xml', content: icon },
} as const;

const addressOf = (name: keyof typeof assets): string =>
  `/admin/assets/${name}?v=${hash('sha256', assets[name].content, 'base64url').slice(0, 12)}`;

export const stylesheetAddress = addressOf('console.css');
export const scriptAddress = addressOf('console.js');
export const iconAddress = addressOf('icon.svg');
