/**
 * Small pieces of HTML that all sections are made of. Everything that is put into a template is escaped by it.
 */
import { html } from 'hono/html';

export type Html = ReturnType<typeof html>;

/** Text whose backticks mean code. */
export const words = (text: string): readonly (string | Html)[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));

/** A name of several parts, which may break after each. */
export const breakable = (name: string): readonly (string | Html)[] =>
  name.split(/(?<=[./#])/).map((part) => html`${part}<wbr>`);

/** One paragraph for each text. */
export const paragraphs = (texts: readonly string[]): readonly Html[] =>
  texts.map((text) => html`<p>${words(text)}</p>`);

/** A heading that can be linked to. */
export const heading = (level: 2 | 3, id: string, title: string): Html => {
  const link = html`<a class="anchor" href="#${id}" aria-label="Link to “${title}”">#</a>`;
  return level === 2
    ? html`<h2 id="${id}">${title} ${link}</h2>`
    : html`<h3 id="${id}">${title} ${link}</h3>`;
};

export interface Column {
  readonly title: string;
  /** `name` columns head their row, `tight` ones do not break, `prose` ones stay wide enough to be read. */
  readonly kind?: 'name' | 'tight' | 'prose';
}

export interface Row {
  readonly id?: string;
  readonly cells: readonly unknown[];
}

const cell = (column: Column | undefined, content: unknown): Html =>
  column?.kind === 'name'
    ? html`<th scope="row">${content}</th>`
    : html`<td class="${column?.kind ?? 'plain'}">${content}</td>`;

/**
 * A table in a box of its own, so that a narrow screen moves the table and not the page. The box can be reached and
 * moved by keyboard.
 */
export const table = (label: string, columns: readonly Column[], rows: readonly Row[]): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${columns.map(({ title }) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${rows.map(
    ({ id, cells }) => html`
<tr${id === undefined ? '' : html` id="${id}"`}>${cells.map((content, index) => cell(columns[index], content))}</tr>`,
  )}
</tbody></table></div>`;
