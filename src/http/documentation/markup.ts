/** The frame of the small pages. Everything that is put into a template is escaped by it. */
import { html, raw } from 'hono/html';
import { flourish, icon, themeCss } from '../pages/theme.ts';

export type Html = ReturnType<typeof html>;

export const iconAddress = `data:image/svg+xml,${encodeURIComponent(icon)}`;

/** Fonts are the reader's own, and colours follow the reader's scheme. */
export const stylesheet = `${themeCss([])}
body{margin:0 auto;max-width:60rem;padding-inline:1.25rem;font:1rem/1.6 var(--text)}
.top{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.25rem 2rem;margin:0;padding-block:1.25rem;border-bottom:1px solid var(--line)}
main{padding-block:1.5rem 3rem}
h1{font-size:clamp(2rem,1.4rem + 2.6vw,3.1rem);margin:2rem 0 .8rem}
.lead{max-width:44rem;margin:0 0 1rem;font-size:1.2rem;line-height:1.5}
dl.ways dt{font:600 1.4rem/1.3 var(--title)}
dl.ways dd{margin:0 0 1.4rem;color:var(--quiet)}
`;

/** A whole page. @param home Where the name of the product leads. */
export const layOut = (title: string, home: string, beside: Html | string, content: Html): Html =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${iconAddress}">
<style>${raw(stylesheet)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<p class="top"><a class="brand" href="${home}">${raw(flourish)} Paraph</a> ${beside}</p>
${content}
</body>
</html>
`;
