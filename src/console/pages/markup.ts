/** Parts of pages. The template `html` escapes every value. */
import { html } from 'hono/html';
import { clockOf } from '../clock.ts';

export type Html = ReturnType<typeof html>;

export const nothing: Html = html``;

/** A reason (`USER_CANCEL`) that a narrow column may break after each word. */
export const breakable = (text: string): Html =>
  html`${text.split(/(?<=_)/).map((word) => html`${word}<wbr>`)}`;

/**
 * A time in UTC, like in logs; empty for a value that is not a time, because others write jobs,
 * too.
 */
const iso = (at: number): string => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
};

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A time in UTC as `2026-11-21 14:03:09.120`. */
export const fullTime = clockOf('UTC').write;

/** A time for lists: `21 Nov 14:03:09`. @param full The text of {@link fullTime}. */
export const shorten = (full: string): string =>
  full === ''
    ? ''
    : `${Number(full.slice(8, 10))} ${months[Number(full.slice(5, 7)) - 1]} ${full.slice(11, 19)}`;

const shortTime = (at: number): string => shorten(fullTime(at));

/** A time element. The layout rewrites it in the reader's zone ({@link timesIn}). */
export const timeOf = (at: number, text = shortTime(at)): Html =>
  html`<time datetime="${iso(at)}" title="${fullTime(at)} UTC">${text}</time>`;

const roughly = (ms: number): string => {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800
    ? `${Math.floor(seconds / 3600)} h`
    : `${Math.floor(seconds / 86_400)} days`;
};

/** Rewrites the times of a page. @param times `UTC`, `relative` or a time zone. */
export const timesIn = (page: string, times: string, now: number): string => {
  const isRelative = times === 'relative';
  const clock = clockOf(times);
  if (!isRelative && clock.zone === 'UTC') return page;
  return page.replaceAll(/(<time datetime="([^"]+)"[^>]*>)([^<]*)/g, (_, tag, time, text) => {
    const apart = now - Date.parse(time);
    if (isRelative) return `${tag}${apart < 0 ? `in ${roughly(-apart)}` : `${roughly(apart)} ago`}`;
    const full = clock.write(Date.parse(time));
    return `${tag}${/^\d{4}-/.test(text) ? full.slice(0, text.length) : shorten(full)}`;
  });
};

/** A duration in words: `840 ms`, `4.2 s`, `3 min 05 s`, `2 h 10 min`. */
export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600)
    return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
};

/** A number with thin spaces: 12 345. */
export const count = (number: number): string =>
  String(number).replaceAll(/\B(?=(\d{3})+$)/g, '\u202f');

/** A number with its noun: `1 transaction`, `12 transactions`. */
export const counted = (number: number, one: string, many = `${one}s`): string =>
  `${count(number)} ${number === 1 ? one : many}`;

export const hiddenFields = (fields: Readonly<Record<string, string | number | undefined>>): Html =>
  html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;

export const csrfField = (csrf: string): Html => hiddenFields({ csrf });

/** The query `?state=failed&…` without empty fields; an empty text when all are empty. */
export const queryOf = (fields: Readonly<Record<string, string | undefined>>): string => {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value) given.set(name, value);
  return given.size === 0 ? '' : `?${given}`;
};

/** A link to the page of one transaction, workflow or replay. */
export const linkTo = (
  subject: 'transactions' | 'workflows' | 'replays',
  id: string,
  text = id,
): Html => html`<a class="code" href="/admin/${subject}/${encodeURIComponent(id)}">${text}</a>`;

/** @param choices Values, or values with their labels. */
export const options = (
  choices: readonly (string | readonly [value: string, label: string])[],
  chosen: string | undefined,
): Html =>
  html`${choices.map((choice) => {
    const [value, label] = typeof choice === 'string' ? [choice, choice] : choice;
    return html`<option value="${value}"${value === chosen ? html` selected` : ''}>${label}</option>`;
  })}`;

type Content = string | number | Html;

/** The result of an order. */
export const banner = (
  kind: 'good' | 'bad' | 'plain',
  title: string,
  text: string | Html = '',
): Html =>
  html`<div class="banner ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}"><p><strong>${title}</strong></p>${
    text === '' ? nothing : html`<p>${text}</p>`
  }</div>`;

/** A secret that is shown once. */
export const secretBanner = (title: string, secret: string, text: string): Html =>
  html`<div class="banner good" role="status"><p><strong>${title}</strong></p><code class="secret">${secret}</code><p>${text}</p></div>`;

export type Tile = readonly [label: string, value: Content, more?: string | Html];

export const tiles = (...all: readonly (Tile | undefined)[]): Html =>
  html`<dl class="tiles">${all.map((tile) => {
    if (tile === undefined) return nothing;
    const [label, value, more = ''] = tile;
    return html`<div><dt>${label}</dt><dd>${value}${more === '' ? nothing : html` <small>${more}</small>`}</dd></div>`;
  })}</dl>`;

/** A list of facts. Names without a value are left out. */
export const facts = (
  ...all: readonly (readonly [name: string, value: Content | undefined])[]
): Html =>
  html`<dl class="facts">${all.map(([name, value]) =>
    value === undefined || value === '' ? nothing : html`<dt>${name}</dt><dd>${value}</dd>`,
  )}</dl>`;

/**
 * The label of a column. `number`: its cells are aligned to the right; `unseen`: only screen
 * readers get it; `pick`: its cells are boxes.
 */
export type Heading = string | readonly [label: string | Html, kind: 'number' | 'unseen' | 'pick'];

/** What stands in the place of a list that is empty: one sentence, with what to do next. */
export const emptyList = (sentence: Content): Html => html`<p class="empty">${sentence}</p>`;

/**
 * A table that narrow screens show as cards.
 *
 * @param none  What the page says in its place when it has no rows: one sentence, with what to do
 *   next.
 * @param order The order of a live list (assets/console.js).
 */
export const cardTable = (
  caption: string,
  headings: readonly Heading[],
  rows: readonly Html[],
  none: Content = 'There is nothing here.',
  order?: 'first' | 'later',
): Html => {
  if (rows.length === 0) return emptyList(none);
  const titles = headings.map((heading) => {
    const [label, kind] = typeof heading === 'string' ? [heading, ''] : heading;
    return kind === 'unseen'
      ? html`<th scope="col" role="columnheader"><span class="unseen">${label}</span></th>`
      : html`<th scope="col" role="columnheader" class="${kind}">${label}</th>`;
  });
  const news = order === undefined ? nothing : html` data-rows="${order}"`;
  return html`<table class="cards" role="table"><caption class="unseen">${caption}</caption><thead role="rowgroup"><tr role="row">${titles}</tr></thead><tbody role="rowgroup"${news}>${rows}</tbody></table>`;
};

export const countTable = (
  caption: string,
  headings: readonly [what: string | Html, number: string],
  rows: readonly (readonly [what: string, number: number])[],
): Html =>
  html`<table class="narrow"><caption>${caption}</caption><thead><tr><th scope="col">${headings[0]}</th><th scope="col" class="number">${headings[1]}</th></tr></thead><tbody>${rows.map(
    ([what, number]) =>
      html`<tr><th scope="row">${breakable(what)}</th><td class="number">${count(number)}</td></tr>`,
  )}</tbody></table>`;

export interface PagedList {
  /** Path of the page, and its query without the cursor. */
  readonly path: string;
  readonly fields: Readonly<Record<string, string | undefined>>;
  /** The fields that stay when the filter is cleared. */
  readonly kept?: Readonly<Record<string, string | undefined>>;
  readonly isFirst: boolean;
  /** Cursor of the next page. */
  readonly next: string | undefined;
  /** The noun of the rows: `workflow`; with its plural if that does not just add an s. */
  readonly what: readonly [one: string, many?: string];
  /** The number of rows on all pages, if it is known. */
  readonly total?: number | undefined;
  readonly action?: Html;
  /** What the page says when there is nothing at all: one sentence, with what to do next. */
  readonly none: Content;
  readonly caption: string;
  readonly headings: readonly Heading[];
  readonly rows: readonly Html[];
}

const summaryOf = ({
  isFirst,
  next,
  what: [one, many = `${one}s`],
  total,
  rows,
}: PagedList): string => {
  if (total !== undefined) return counted(total, one, many);
  if (!isFirst) return `Older ${many}`;
  return next === undefined ? counted(rows.length, one, many) : `The newest ${count(rows.length)}`;
};

/** What an empty page of a list says: why it is empty, and what to do. */
const noneOf = ({ path, fields, kept = {}, isFirst, next, what, none }: PagedList): Content => {
  const [one, many = `${one}s`] = what;
  if (next !== undefined)
    return html`No ${one} is on this page. <a href="${path}${queryOf({ ...fields, cursor: next })}">See older ${many}</a>.`;
  if (!isFirst)
    return html`There are no older ${many}. <a href="${path}${queryOf(fields)}">See the newest</a>.`;
  const isNarrowed = Object.entries(fields).some(([name, value]) => value && !kept[name]);
  return isNarrowed
    ? html`No ${one} fits this filter. <a href="${path}${queryOf(kept)}">Clear the filter</a>.`
    : none;
};

/** A list, newest first. On the open page, a button counts new rows. */
export const pagedList = (list: PagedList): Html => {
  const { path, fields, isFirst, next, action, caption, headings, rows } = list;
  const table = cardTable(caption, headings, rows, noneOf(list), isFirst ? 'first' : 'later');
  return html`<div class="bar"><p aria-live="polite"><strong>${summaryOf(list)}</strong> <button id="news" type="button" class="plain" hidden></button></p>${rows.length === 0 ? nothing : (action ?? nothing)}</div>
${rows.length === 0 ? html`<div data-none>${table}</div>` : html`<div class="scroll list">${table}</div>`}
<nav class="paging" aria-label="Pages">${
    isFirst ? html`<span></span>` : html`<a href="${path}${queryOf(fields)}">Newest</a>`
  }${
    next === undefined
      ? nothing
      : html`<a rel="next" href="${path}${queryOf({ ...fields, cursor: next })}">Older</a>`
  }</nav>`;
};

export const invalid = (isWrong: boolean): Html => (isWrong ? html` aria-invalid="true"` : nothing);

export const reasonField = (
  id: string,
  isNeeded: boolean,
  hint: string,
  value = '',
  isWrong = false,
): Html =>
  html`<div class="field"><label for="${id}">Reason${isNeeded ? '' : ' (optional)'}</label><textarea id="${id}" name="reason" maxlength="500"${isNeeded ? html` required` : ''}${invalid(isWrong)} aria-describedby="${id}-hint">${value}</textarea><span class="hint" id="${id}-hint">${hint}</span></div>`;
