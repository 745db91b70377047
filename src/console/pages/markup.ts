/** Pieces that the pages are made of. Everything that is put into a template is escaped by it. */
import { html } from 'hono/html';

export type Html = ReturnType<typeof html>;

/** Nothing at all, where a template wants a piece. */
export const nothing: Html = html``;

/**
 * All times are UTC, as in the logs: the server does not know where its reader is. Empty for what is no time: other programs write
 * jobs too.
 */
const isoOf = (at: number): string => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
};

/** `21 Nov 14:03:09`, for lists. */
export const shortTime = (at: number): string => {
  const [, date = '', time = ''] = /^\d{4}-(\d\d-\d\d)T(\d\d:\d\d:\d\d)/.exec(isoOf(at)) ?? [];
  const [month = '', day = ''] = date.split('-');
  const names = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  return `${Number(day)} ${names[Number(month) - 1]} ${time}`;
};

/** `2026-11-21 14:03:09.120`. */
export const fullTime = (at: number): string => isoOf(at).replace('T', ' ').replace('Z', '');

export const timeOf = (at: number, text = shortTime(at)): Html =>
  html`<time datetime="${isoOf(at)}" title="${fullTime(at)} UTC">${text}</time>`;

/** `840 ms`, `4.2 s`, `3 min 05 s`, `2 h 10 min`. */
export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
};

/** With thin spaces: 12 345. */
export const count = (number: number): string => String(number).replaceAll(/\B(?=(\d{3})+$)/g, '\u202f');

/** `1 transaction`, `12 transactions`. */
export const counted = (number: number, one: string, many = `${one}s`): string =>
  `${count(number)} ${number === 1 ? one : many}`;

export const csrfField = (csrf: string): Html => html`<input type="hidden" name="csrf" value="${csrf}">`;

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export const options = (choices: readonly Choice[], chosen: string | undefined): Html =>
  html`${choices.map(
    ({ value, label }) =>
      html`<option value="${value}"${value === chosen ? html` selected` : ''}>${label}</option>`,
  )}`;

/** A box that says how something went. */
export const banner = (kind: 'good' | 'bad' | 'plain', title: string, text: string | Html = ''): Html =>
  html`<div class="banner ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}"><p><strong>${title}</strong></p>${
    text === '' ? nothing : html`<p>${text}</p>`
  }</div>`;
