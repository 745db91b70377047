/** Pieces that the pages are made of. Everything that is put into a template is escaped by it. */
import { html } from 'hono/html';
import type { Exchange } from './provider-calls.ts';

export type Html = ReturnType<typeof html>;

/** Text whose backticks mean code. */
export const words = (text: string): readonly (string | Html)[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));

/** A name with its colon, a string, or any other literal of JSON. */
const tokens = /("(?:[^"\\]|\\.)*")(?=(:)?)|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;

/** JSON with names and values in different colours; nothing depends on seeing them. */
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

/** Name and value on a line of their own, as they are before they are encoded for the way. */
export const fieldsBlock = (fields: Exchange['fields']): Html =>
  html`<pre><code>${fieldLines(fields)}</code></pre>`;

const requestText = ({ method, url, headers, fields }: Exchange): Html => {
  const shownHeaders = headers.map(([name, text]) => html`<span class="name">${name}</span>: ${text}\n`);
  const shownFields = fieldLines(fields);
  return html`<pre><code>${method} ${url}
${shownHeaders}${shownFields.length === 0 ? '' : '\n'}${shownFields}</code></pre>`;
};

/** What was sent, and what came back. */
export const exchangeBlocks = (exchange: Exchange): Html => html`<div class="sides">
<div><h3>Sent</h3>${requestText(exchange)}</div>
<div><h3>Answer <span class="status">HTTP ${exchange.status}</span></h3>${jsonBlock(exchange.answer)}</div>
</div>`;

/** @param id Of the heading, to be linked to. */
export const step = (number: number, id: string, title: string, content: unknown): Html =>
  html`<section class="step" aria-labelledby="${id}">
<h2 id="${id}"><span class="number">${number}</span> ${title}</h2>
${content}
</section>`;

export const banner = (kind: 'good' | 'bad' | 'plain', title: string, sentences: readonly unknown[]): Html =>
  html`<div class="banner ${kind}"><p><strong>${title}</strong></p>${sentences.map((sentence) => html`<p>${sentence}</p>`)}</div>`;
