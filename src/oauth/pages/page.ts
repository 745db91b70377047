/**
 * The frame around every page: who is asking, one thing to do, one line about safety.
 *
 * Nothing in it is inline or comes from outside, so that the strictest policy lets it through. It is complete without the
 * script; that one only spares people the waiting.
 */
import { html } from 'hono/html';
import { assetPaths } from './assets.ts';
import type { PageFrame } from './frame.ts';
import type { Html } from './markup.ts';
import { wordsOf } from './vocabulary.ts';

export interface PageParts {
  readonly title: string;
  /** The form above holds a mistake: said in the window's title, too. */
  readonly hasProblem?: boolean;
  /** Elements of the head: how the page moves on by itself. */
  readonly head?: Html;
  readonly main: Html;
}

const brand = ({ tenantName, branding }: PageFrame, logo: string): Html =>
  branding.logoSvg === undefined
    ? html`<p class="brand">${tenantName}</p>`
    : html`<p class="brand"><img src="${logo}" alt="${tenantName}"></p>`;

export const layOut = (frame: PageFrame, { title, hasProblem = false, head, main }: PageParts): string => {
  const words = wordsOf(frame.language);
  const assets = assetPaths(frame);
  const page = html`<!doctype html>
<html lang="${frame.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<meta name="robots" content="noindex">
<title>${hasProblem ? `${words.error}: ` : ''}${title} · ${frame.tenantName}</title>
<link rel="stylesheet" href="${assets.stylesheet}">
<link rel="icon" type="image/svg+xml" href="${assets.icon}">
${head}
</head>
<body>
<header>${brand(frame, assets.logo)}</header>
<main>
${main}
</main>
<footer><p>${words.safety}</p></footer>
</body>
</html>
`;
  return `${page}`;
};
