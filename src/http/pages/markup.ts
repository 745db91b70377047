/** Pieces of all pages. Templates escape their values. */
import { html } from 'hono/html';
export type Html = ReturnType<typeof html>;

/** The forms of a page lead below `pagePath` and need the token. */
export interface FormTarget {
  readonly pagePath: string;
  readonly csrf: string;
}

/** An icon in the colour of the text. A title beside it must say the same in words. */
const icon = (name: string, lines: Html): Html =>
  html`<svg class="icon ${name}" viewBox="0 0 48 48" width="48" height="48" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${lines}</svg>`;

const phone = html`<rect x="15" y="6" width="18" height="36" rx="4"/><path d="M22 36.5h4"/>`;

export const icons = {
  phone: icon('calm', phone),
  ringing: icon(
    'ringing',
    html`${phone}<path class="wave near" d="M10 18.5a9.5 9.5 0 0 0 0 11M38 18.5a9.5 9.5 0 0 1 0 11"/><path class="wave far" d="M5 14a17.5 17.5 0 0 0 0 20M43 14a17.5 17.5 0 0 1 0 20"/>`,
  ),
  message: icon(
    'calm',
    html`<path d="M8 10h32a3 3 0 0 1 3 3v19a3 3 0 0 1-3 3H22l-9 7v-7H8a3 3 0 0 1-3-3V13a3 3 0 0 1 3-3z"/><path d="M15 22.5h.02M24 22.5h.02M33 22.5h.02" stroke-width="4"/>`,
  ),
  warning: icon('bad', html`<path d="M24 7 4.5 41h39z"/><path d="M24 20v10M24 35.5h.02"/>`),
  done: icon('good', html`<circle cx="24" cy="24" r="18"/><path d="m15.5 24.5 6 6 11.5-12.5"/>`),
  stopped: icon(
    'calm',
    html`<circle cx="24" cy="24" r="18"/><path d="m17.5 17.5 13 13M30.5 17.5l-13 13"/>`,
  ),
  leaving: icon(
    'calm',
    html`<path d="M20 8H10a2 2 0 0 0-2 2v28a2 2 0 0 0 2 2h10M32 15l9 9-9 9M41 24H19"/>`,
  ),
} as const;

export const hiddenToken = ({ csrf }: FormTarget): Html =>
  html`<input type="hidden" name="csrf" value="${csrf}">`;

export const buttonForm = (
  target: FormTarget,
  name: string,
  label: string,
  kind: 'primary' | 'secondary' | 'quiet',
): Html =>
  html`<form method="post" action="${target.pagePath}/${name}">${hiddenToken(target)}<button class="${kind}" type="submit">${label}</button></form>`;

/** One word to see, single characters to hear. */
export const spelled = (text: string): Html =>
  html`<span aria-hidden="true">${text}</span><span class="unseen">${[...text].join(' ')}</span>`;

/**
 * Says what is wrong, above the page and with a link to the field. It takes the focus, so that it
 * is read out first.
 */
export const errorSummary = (title: string, text: string, fieldId: string | undefined): Html =>
  html`<div class="problem" role="alert" tabindex="-1" autofocus><h2>${title}</h2><p>${
    fieldId === undefined ? text : html`<a href="#${fieldId}">${text}</a>`
  }</p></div>`;

export const reference = (label: string, value: string): Html =>
  html`<dl class="reference"><dt>${label}</dt><dd><code>${value}</code></dd></dl>`;

/** Keeps `+41 … 01` on one line. */
export const unbroken = (text: string): string =>
  text.replaceAll(/\+\d[\d …]*\d/g, (number) => number.replaceAll(' ', '\u00a0'));

/** Country codes of one and two digits; all others have three. ITU-T E.164. */
const countryCode = /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/** Swiss numbers in Swiss groups, others in groups of three after the country code. */
export const readableNumber = (msisdn: string): string => {
  const digits = msisdn.replace(/^\+/, '');
  if (!/^\d+$/.test(digits)) return msisdn;
  const swiss = /^41(\d{2})(\d{3})(\d{2})(\d{2})$/.exec(digits);
  if (swiss) return ['+41', ...swiss.slice(1)].join(' ');
  const country = countryCode.exec(digits)?.[0] ?? '';
  return `+${country} ${digits.slice(country.length).replaceAll(/\d{3}(?=\d{2})/g, '$& ')}`.trim();
};
