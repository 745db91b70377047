import { html, raw } from 'hono/html';
import { flourish } from './mark.ts';
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
