/**
 * The frame around every page. Nothing is inline or from elsewhere, so the strictest policy fits.
 * Every page works without the script.
 */
import { html } from 'hono/html';
import { assetAddress, type PageFrame } from './assets.ts';
import { type Html, icons } from './markup.ts';
import { sharedWords } from './words.ts';

/**
 * The first elements in the head of every page, also of the console. A system keyboard makes the
 * page smaller, so that a button at its end stays in sight.
 */
export const headStart = html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<meta name="robots" content="noindex">`;

export interface PageParts {
  readonly title: string;
  /** The title of the window says so too. */
  readonly hasError?: boolean;
  readonly head?: Html;
  /** The text of the footer. Default: that PINs are never entered on a website. */
  readonly safety?: string | undefined;
  readonly main: Html;
}

const brand = (frame: PageFrame): Html =>
  frame.branding.logoSvg === undefined
    ? html`<p class="brand">${frame.tenantName}</p>`
    : html`<p class="brand"><img src="${assetAddress(frame, 'logo.svg')}" alt="${frame.tenantName}"></p>`;

export const layOut = (
  frame: PageFrame,
  { title, hasError = false, head, safety, main }: PageParts,
): string => {
  const words = sharedWords[frame.language];
  const page = html`<!doctype html>
<html lang="${frame.language}">
<head>
${headStart}
<title>${hasError ? `${words.error}: ` : ''}${title} · ${frame.tenantName}</title>
<link rel="stylesheet" href="${assetAddress(frame, 'login.css')}">
<link rel="icon" type="image/svg+xml" href="${assetAddress(frame, 'icon.svg')}">
${head}
</head>
<body>
<header>${brand(frame)}</header>
<main>
${main}
</main>
<footer><p>${safety ?? words.safety}</p></footer>
</body>
</html>
`;
  return `${page}`;
};

/** @param message Three lines: title, what happened, what to do. The last may be missing. */
export const layOutWarning = (
  frame: PageFrame,
  message: string,
  rest: Html,
  safety?: string,
): string => {
  const [title = '', what = '', next = ''] = message.split('\n');
  return layOut(frame, {
    title,
    safety,
    main: html`${icons.warning}
<h1>${title}</h1>
<p class="lead">${what}</p>
${next && html`<p>${next}</p>`}
${rest}`,
  });
};
