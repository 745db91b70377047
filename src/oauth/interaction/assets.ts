/**
 * What the pages load: a style sheet with the tenant's colour, a script, the tenant's logo.
 *
 * The pages name them with a hash of their content, and what is asked for by its right hash may be kept for ever. Another
 * release, which runs beside this one while it is rolled out, has other hashes: so an answer to those must not be kept, and
 * browsers ask about it each time. A logo is an SVG document, which could hold a script if somebody opened it by itself: its own policy
 * forbids that.
 */
import { hash } from 'node:crypto';
import type { OauthBranding } from '../../registry/oauth-client.ts';
import { icon, script, stylesheet } from '../pages/assets.ts';

interface Asset {
  readonly type: string;
  readonly content: string;
}

const assetOf = (name: string, branding: OauthBranding): Asset | undefined => {
  switch (name) {
    case 'login.css':
      return { type: 'text/css;charset=UTF-8', content: stylesheet(branding) };
    case 'login.js':
      return { type: 'text/javascript;charset=UTF-8', content: script };
    case 'icon.svg':
      return { type: 'image/svg+xml', content: icon(branding) };
    case 'logo.svg':
      return branding.logoSvg === undefined
        ? undefined
        : { type: 'image/svg+xml', content: branding.logoSvg };
    default:
      return undefined;
  }
};

const yearSeconds = 31_536_000;
const leastHashLength = 8;

/**
 * @param query Without the question mark.
 * @returns Undefined when there is no such file.
 */
export const serveAsset = (
  name: string,
  branding: OauthBranding,
  { query, ifNoneMatch }: { readonly query: string; readonly ifNoneMatch: string | undefined },
): Response | undefined => {
  const asset = assetOf(name, branding);
  if (asset === undefined) return undefined;
  const etag = `"${hash('sha256', asset.content, 'base64url').slice(0, 22)}"`;
  const named = query.slice(query.indexOf('=') + 1);
  const isRight =
    named.length >= leastHashLength &&
    (['hex', 'base64url'] as const).some((form) => hash('sha256', asset.content, form).startsWith(named));
  const headers = {
    etag,
    'cache-control': isRight ? `public, max-age=${yearSeconds}, immutable` : 'no-cache',
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  };
  if (ifNoneMatch === etag) return new Response(null, { status: 304, headers });
  return new Response(asset.content, { headers: { ...headers, 'content-type': asset.type } });
};
