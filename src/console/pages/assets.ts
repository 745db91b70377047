/** Style sheet, script and icon. */
import { readFileSync } from 'node:fs';
import { createAssets } from '../../http/pages/assets.ts';
import { icon, type Schemes, themeCss } from '../../http/pages/theme.ts';

/** Colours that only the console has. */
const own: Schemes = {
  light: { tint: '#e8eef7', open: '#7d5408', 'bar-good': '#3f7d4f', 'bar-bad': '#b5483a' },
  dark: { tint: '#1d2a3d', open: '#e7b173', 'bar-good': '#6fae7e', 'bar-bad': '#d9786a' },
};

const read = (name: string): string =>
  readFileSync(new URL(`../assets/${name}`, import.meta.url), 'utf8');

/** The files, by the last part of their path. */
export const assets = {
  'console.css': [
    'text/css; charset=utf-8',
    `${themeCss([own], 'screen and (prefers-color-scheme:dark)')}\n${read('console.css')}`,
  ],
  'console.js': ['text/javascript; charset=utf-8', read('console.js')],
  'board.css': ['text/css; charset=utf-8', read('board.css')],
  'board.js': ['text/javascript; charset=utf-8', read('board.js')],
  'icon.svg': ['image/svg+xml', icon],
} as const;

const { versioned, serve } = createAssets(assets);
export const serveConsoleAsset = serve;

const path = '/admin/assets';
export const stylesheetAddress = `${path}/${versioned('console.css')}`;
export const scriptAddress = `${path}/${versioned('console.js')}`;
export const boardStylesheetAddress = `${path}/${versioned('board.css')}`;
export const boardScriptAddress = `${path}/${versioned('board.js')}`;
export const iconAddress = `${path}/${versioned('icon.svg')}`;
