/** The frame of the pages and their parts. The templates escape all values. */
import { html, raw } from 'hono/html';
import { pageHeaders } from '../../src/http/pages/headers.ts';
import { headStart } from '../../src/http/pages/layout.ts';
import type { Html } from '../../src/http/pages/markup.ts';
import { flourish } from '../../src/http/pages/theme.ts';
import type { Exchange } from './provider-calls.ts';
import { versioned } from './stylesheet.ts';

export type { Html };

/** Text whose backticks mean code. */
export const words = (text: string): readonly (string | Html)[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));

const tokens = /("(?:[^"\\]|\\.)*")(?=(:)?)|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;

/** JSON with names and values in different colours, which carry no information. */
export const jsonBlock = (json: unknown): Html => {
  const text = JSON.stringify(json, null, 2);
  const parts: (string | Html)[] = [];
  let end = 0;
  for (const { 0: token, 1: quoted, 2: colon, index } of text.matchAll(tokens)) {
    const kind = quoted === undefined ? 'literal' : colon === undefined ? 'string' : 'name';
    parts.push(text.slice(end, index), html`<span class="${kind}">${token}</span>`);
    end = index + token.length;
  }
  return html`<pre><code>${parts}${text.slice(end)}</code></pre>`;
};

const fieldLines = (fields: Exchange['fields']): readonly Html[] =>
  Object.entries(fields).map(([name, text]) => html`<span class="name">${name}</span>=${text}\n`);

export const fieldsBlock = (fields: Exchange['fields']): Html =>
  html`<pre><code>${fieldLines(fields)}</code></pre>`;

const requestText = ({ method, url, headers, fields }: Exchange): Html => {
  const shownHeaders = headers.map(
    ([name, text]) => html`<span class="name">${name}</span>: ${text}\n`,
  );
  const shownFields = fieldLines(fields);
  return html`<pre><code>${method} ${url}
${shownHeaders}${shownFields.length === 0 ? '' : '\n'}${shownFields}</code></pre>`;
};

/** The request and its answer. */
export const exchangeBlocks = (exchange: Exchange): Html => html`<div class="sides">
<div><h3>Sent</h3>${requestText(exchange)}</div>
<div><h3>Answer <span class="status">HTTP ${exchange.status}</span></h3>${jsonBlock(exchange.answer)}</div>
</div>`;

/** @param id The id of the heading, for links. */
export const step = (number: number, id: string, title: string, content: unknown): Html =>
  html`<section class="step" aria-labelledby="${id}">
<h2 id="${id}"><span class="number">${number}</span> ${title}</h2>
${content}
</section>`;

export const banner = (
  kind: 'good' | 'bad' | 'plain',
  title: string,
  sentences: readonly unknown[],
): Html =>
  html`<div class="banner ${kind}"><p><strong>${title}</strong></p>${sentences.map((sentence) => html`<p>${sentence}</p>`)}</div>`;

/** The frame of every page. */
export const layout = (title: string, content: Html): Html => html`<!doctype html>
<html lang="en">
<head>
${headStart}
<title>${title} · Paraph</title>
<link rel="icon" href="/demo/${versioned('icon.svg')}">
<link rel="stylesheet" href="/demo/${versioned('demo.css')}">
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
 * The headers of every page: no script, no frame, no content from outside, no caching. The form
 * goes to the public address. The referrer stays within this origin: without any, browsers would
 * not name the origin of a form.
 */
export const demoHeaders = (publicUrl: string): Readonly<Record<string, string>> => ({
  ...pageHeaders,
  'content-security-policy': `default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' ${publicUrl}; frame-ancestors 'none'; base-uri 'none'`,
  'referrer-policy': 'same-origin',
});
