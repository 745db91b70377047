/**
 * Files of the pages: style sheet, script, icon and logo. The pages name them with a hash of their
 * content, and only the right hash may be cached for ever: another release may run at the same
 * time. A logo is an SVG and could hold a script, which its policy forbids.
 */
import { hash } from 'node:crypto';
import type { LoginLanguage, OauthBranding } from '../registry/oauth-client.ts';
import { inkOn, plainColour } from './colours.ts';
import { script } from './script.ts';
import { stylesheet } from './stylesheet.ts';

/** What every page is made from. */
export interface PageFrame {
  readonly language: LoginLanguage;
  /** Name and look of the service, as people know it. */
  readonly tenantName: string;
  readonly branding: OauthBranding;
  /** Where the files of the pages are, without a slash at its end: `/oidc`. */
  readonly path: string;
  /** Who asks the person for something. */
  readonly clientName?: string;
}

/** Without an icon browsers ask for `/favicon.ico`. */
const icon = ({ color }: OauthBranding): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" rx="10" fill="${plainColour(color)}"/><path d="M19 9h10a3 3 0 0 1 3 3v24a3 3 0 0 1-3 3H19a3 3 0 0 1-3-3V12a3 3 0 0 1 3-3zM22.5 34h3" fill="none" stroke="${inkOn(color)}" stroke-width="3" stroke-linecap="round"/></svg>`;

interface Asset {
  readonly type: string;
  readonly content: string;
  readonly hash: string;
}

const assetOf = (type: string, content: string): Asset => ({
  type,
  content,
  hash: hash('sha256', content, 'base64url').slice(0, 12),
});

const scriptAsset = assetOf('text/javascript;charset=UTF-8', script);

const known = new WeakMap<OauthBranding, ReadonlyMap<string, Asset>>();

const assetsOf = (branding: OauthBranding): ReadonlyMap<string, Asset> => {
  const found = known.get(branding);
  if (found !== undefined) return found;
  const assets = new Map([
    ['login.css', assetOf('text/css;charset=UTF-8', stylesheet(branding))],
    ['login.js', scriptAsset],
    ['icon.svg', assetOf('image/svg+xml', icon(branding))],
  ]);
  if (branding.logoSvg !== undefined) assets.set('logo.svg', assetOf('image/svg+xml', branding.logoSvg));
  known.set(branding, assets);
  return assets;
};

export const assetAddress = (
  { path, branding }: Pick<PageFrame, 'path' | 'branding'>,
  name: 'login.css' | 'login.js' | 'icon.svg' | 'logo.svg',
): string => `${path}/assets/${name}?v=${assetsOf(branding).get(name)?.hash}`;

const yearSeconds = 31_536_000;

/** @param query Without the question mark. */
export const serveAsset = (
  name: string,
  branding: OauthBranding,
  { query, ifNoneMatch }: { readonly query: string; readonly ifNoneMatch: string | undefined },
): Response | undefined => {
  const asset = assetsOf(branding).get(name);
  if (asset === undefined) return undefined;
  const etag = `"${asset.hash}"`;
  const headers = {
    etag,
    'cache-control': query === `v=${asset.hash}` ? `public, max-age=${yearSeconds}, immutable` : 'no-cache',
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  };
  if (ifNoneMatch === etag) return new Response(null, { status: 304, headers });
  return new Response(asset.content, { headers: { ...headers, 'content-type': asset.type } });
};
