/**
 * The frame around every page: who is asking, one thing to do, one line about safety.
 *
 * Nothing in it is inline or comes from outside, so that the strictest policy lets it through. It is complete without the
 * script; that one only spares people the waiting.
 */
import { html } from 'hono/html';
import type { LoginLanguage, OauthTenant } from '../../registry/oauth-client.ts';
import { assetAddress } from './assets.ts';
import type { Html } from './markup.ts';
import type { PageFrame } from './views.ts';
import { wordsOf } from './words.ts';

export interface PageParts {
  readonly title: string;
  /** The form above holds a mistake: said in the window's title, too. */
  readonly hasProblem?: boolean;
  /** Elements of the head: how the page moves on by itself. */
  readonly head?: Html;
  readonly main: Html;
}

/** @param path Of the tenant, without a slash at its end. */
export const frameFor = (
  { name, branding }: OauthTenant,
  path: string,
  language: LoginLanguage,
  client?: { readonly name: string },
): PageFrame => ({
  language,
  tenantName: name,
  branding,
  path,
  ...(client !== undefined && { clientName: client.name }),
});

const brand = (frame: PageFrame): Html =>
  frame.branding.logoSvg === undefined
    ? html`<p class="brand">${frame.tenantName}</p>`
    : html`<p class="brand"><img src="${assetAddress(frame, 'logo.svg')}" alt="${frame.tenantName}"></p>`;

export const layOut = (frame: PageFrame, { title, hasProblem = false, head, main }: PageParts): string => {
  const words = wordsOf(frame.language);
  const page = html`<!doctype html>
<html lang="${frame.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<meta name="robots" content="noindex">
<title>${hasProblem ? `${words.error}: ` : ''}${title} · ${frame.tenantName}</title>
<link rel="stylesheet" href="${assetAddress(frame, 'login.css')}">
<link rel="icon" type="image/svg+xml" href="${assetAddress(frame, 'icon.svg')}">
${head}
</head>
<body>
<header>${brand(frame)}</header>
<main>
${main}
</main>
<footer><p>${words.safety}</p></footer>
</body>
</html>
`;
  return `${page}`;
};
