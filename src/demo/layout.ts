import { html, raw } from 'hono/html';
import { flourish } from '../theme.ts';
import type { Html } from './markup.ts';
import { stylesheetVersion } from './stylesheet.ts';

/** The frame of every page. */
export const layout = (title: string, content: Html): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Paraph</title>
<link rel="icon" href="/demo/icon.svg">
<link rel="stylesheet" href="/demo/demo.css?v=${stylesheetVersion}">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><div class="top"><a class="brand" href="/demo">${raw(flourish)}<span>Paraph</span></a>
<p>Demo of a login <span class="quiet">sandbox</span></p></div></header>
<main id="content" tabindex="-1">
${content}
</main>
<footer><p>For developers: <a href="/docs">signature interface</a>, <a href="/oidc/.well-known/openid-configuration">discovery document</a>.</p></footer>
</body>
</html>
`;

/**
 * Headers of every page: nothing from outside, no script at all, no frame around it, and nothing kept.
 *
 * The form goes to the public address, and may be answered with a redirect to the login page, which is there, too. The referrer
 * stays within this origin: with none at all, browsers would hide from us where a form came from.
 */
export const pageHeaders = (publicUrl: string): Readonly<Record<string, string>> => ({
  'content-security-policy': `default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' ${publicUrl}; frame-ancestors 'none'; base-uri 'none'`,
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
});

/**
 * Whether a form was sent by a page of this server, so that no other site can begin a login in somebody's browser.
 *
 * Every browser says with a POST where it comes from. One that says nothing is asked to send the form once more.
 */
export const isFromOwnPage = (headers: Headers, publicUrl: string): boolean => {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  return headers.get('origin') === publicUrl;
};
