/**
 * Small pieces of HTML that all sections are made of. Everything that is put into a template is
 * escaped by it.
 */
import { html, raw } from 'hono/html';
import { flourish, icon } from '../../theme.ts';
import { stylesheet } from './stylesheet.ts';

export type Html = ReturnType<typeof html>;

/** A part of the page that the contents lead to. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly content: Html | readonly Html[];
}

/** A whole page. @param home Where the name of the product leads. */
export const layOut = (title: string, home: string, beside: Html | string, content: Html): Html =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
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

/** Text whose backticks mean code. */
export const words = (text: string): readonly (string | Html)[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));

/** A name of several parts as code; it may break after each. */
export const code = (text: string): Html =>
  html`<code>${text.split(/(?<=[./#])/).map((part) => html`${part}<wbr>`)}</code>`;

export const jsonBlock = (json: object): Html =>
  html`<pre><code>${JSON.stringify(json, undefined, 2)}</code></pre>`;

/** A heading that can be linked to. */
export const heading = (level: 2 | 3, id: string, title: string): Html => {
  const link = html`<a class="quiet" href="#${id}" aria-label="Link to “${title}”">#</a>`;
  return level === 2
    ? html`<h2 id="${id}">${title} ${link}</h2>`
    : html`<h3 id="${id}">${title} ${link}</h3>`;
};

/**
 * A table in a box of its own, so that a narrow screen moves the table and not the page. The box
 * can be reached and moved by keyboard. The first cell of a row is its heading, the last one has
 * room for sentences.
 *
 * @param label Says what the table is to somebody who does not see where it stands.
 * @param ids Of the rows, where they can be linked to.
 */
export const table = (
  label: string,
  titles: readonly string[],
  rows: readonly (readonly unknown[])[],
  ids: readonly string[] = [],
): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${titles.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([first, ...others], index) => html`
<tr${ids[index] === undefined ? '' : html` id="${ids[index]}"`}><th scope="row">${first}</th>${others.map((cell) => html`<td>${cell}</td>`)}</tr>`,
  )}
</tbody></table></div>`;
