/**
 * Files of the pages: style sheet, script, icon and logo. The pages name them with a hash of their
 * content, and only the right hash may be cached for ever: another release may run at the same
 * time. A logo is an SVG and could hold a script, which its policy forbids.
 */
import { hash } from 'node:crypto';
import type { Context } from 'hono';
import { inkOn, plainColour } from './colours.ts';
import type { PageLanguage } from './languages.ts';
import { script } from './script.ts';
import { type Branding, stylesheet } from './stylesheet.ts';

/** What every page is made from. */
export interface PageFrame {
  readonly language: PageLanguage;
  /** Name and look of the service, as people know it. */
  readonly tenantName: string;
  readonly branding: Branding;
  /** The path of the pages' files, without a slash at its end: `/oidc`. */
  readonly path: string;
  /** The name of the party that asks the person for something. */
  readonly clientName?: string;
}

/** The icon of the pages. Without one, browsers ask for `/favicon.ico`. */
const icon = ({ color }: Branding): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" rx="10" fill="${plainColour(color)}"/><path d="M19 9h10a3 3 0 0 1 3 3v24a3 3 0 0 1-3 3H19a3 3 0 0 1-3-3V12a3 3 0 0 1 3-3zM22.5 34h3" fill="none" stroke="${inkOn(color)}" stroke-width="3" stroke-linecap="round"/></svg>`;

const yearSeconds = 31_536_000;

export interface AskedAsset {
  /** The query of the address, without the question mark. */
  readonly query: string;
  readonly ifNoneMatch: string | undefined;
}

export const askedIn = ({ req }: Context): AskedAsset => ({
  query: new URL(req.url).search.slice(1),
  ifNoneMatch: req.header('if-none-match'),
});

export const createAssets = (
  files: Readonly<Record<string, readonly [type: string, content: string]>>,
) => {
  const assets = new Map(
    Object.entries(files).map(([name, [type, content]]) => {
      return [name, { type, content, version: hash('sha256', content, 'base64url').slice(0, 12) }];
    }),
  );
  return {
    /** `login.css?v=…` */
    versioned: (name: string): string => `${name}?v=${assets.get(name)?.version}`,
    serve: (name: string, { query, ifNoneMatch }: AskedAsset): Response | undefined => {
      const asset = assets.get(name);
      if (asset === undefined) return undefined;
      const { type, content, version } = asset;
      const etag = `"${version}"`;
      const headers = {
        etag,
        'cache-control':
          query === `v=${version}` ? `public, max-age=${yearSeconds}, immutable` : 'no-cache',
        'content-security-policy':
          "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      };
      if (ifNoneMatch === etag) return new Response(null, { status: 304, headers });
      return new Response(content, { headers: { ...headers, 'content-type': type } });
    },
  };
};

type Assets = ReturnType<typeof createAssets>;
const known = new WeakMap<Branding, Assets>();

const assetsOf = (branding: Branding): Assets => {
  const { logoSvg } = branding;
  const assets =
    known.get(branding) ??
    createAssets({
      'login.css': ['text/css;charset=UTF-8', stylesheet(branding)],
      'login.js': ['text/javascript;charset=UTF-8', script],
      'icon.svg': ['image/svg+xml', icon(branding)],
      ...(logoSvg !== undefined && { 'logo.svg': ['image/svg+xml', logoSvg] }),
    });
  known.set(branding, assets);
  return assets;
};

export const assetAddress = (
  { path, branding }: Pick<PageFrame, 'path' | 'branding'>,
  name: 'login.css' | 'login.js' | 'icon.svg' | 'logo.svg',
): string => `${path}/assets/${assetsOf(branding).versioned(name)}`;

export const serveAsset = (
  name: string,
  branding: Branding,
  asked: AskedAsset,
): Response | undefined => assetsOf(branding).serve(name, asked);
