/**
 * Waits for the phone, beside what the person compares.
 *
 * With script, the page learns at once that there is news; without, it loads itself again every few seconds. The clock is
 * no live region: a screen reader says once that the time is nearly over, and not every second.
 */
import { html } from 'hono/html';
import { assetAddress } from './assets.ts';
import { buttonForm, type Html, icons, spelled, unbroken } from './markup.ts';
import { layOut } from './page.ts';
import type { PageFrame, ViewOf } from './views.ts';
import { wordsOf } from './words.ts';

const reloadSeconds = 3;
const nearlyOverSeconds = 20;

/** 80 is `1:20`. */
const clock = (seconds: number): string => {
  const left = Math.max(0, Math.floor(seconds));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
};

const token = (name: string, text: string, kind: string): Html =>
  html`<div class="${kind}"><dt>${name}</dt><dd>${spelled(text)}</dd></div>`;

export const waitingPage = (frame: PageFrame, view: ViewOf<'waiting'>): string => {
  const words = wordsOf(frame.language);
  const { pagePath, sessionCode, matchNumber, phone, secondsLeft } = view;
  const { title, lead, compare, code, number, differs, status, timeLeft, nearlyOver } = words.waiting;
  // A client's own text may show neither.
  const comparison =
    sessionCode === '' && matchNumber === undefined
      ? ''
      : html`<div class="compare">
<p id="compare">${compare}</p>
<dl aria-labelledby="compare">
${matchNumber === undefined ? '' : token(number, matchNumber, 'match')}
${sessionCode === '' ? '' : token(code, sessionCode, matchNumber === undefined ? 'match' : 'session')}
</dl>
</div>`;
  return layOut(frame, {
    title,
    head: html`<noscript><meta http-equiv="refresh" content="${reloadSeconds}"></noscript>
<script src="${assetAddress(frame, 'login.js')}" defer></script>`,
    main: html`${icons.ringing}
<h1>${title}</h1>
<p class="lead">${lead(unbroken(phone), frame.clientName ?? words.someClient)}</p>
${comparison}
<div class="waiting" id="waiting" data-events="${pagePath}/events" data-state="${pagePath}/state" data-seconds="${secondsLeft}" data-nearly-seconds="${nearlyOverSeconds}" data-nearly-over="${nearlyOver(nearlyOverSeconds)}">
<p class="status" role="status" id="status">${status}<span class="dots" aria-hidden="true"><span>.</span><span>.</span><span>.</span></span></p>
<p class="time" role="timer" aria-live="off">${timeLeft} <span id="clock">${clock(secondsLeft)}</span></p>
</div>
<p class="note">${differs}</p>
<div class="actions">${buttonForm(view, 'cancel', words.cancel, 'secondary')}</div>`,
  });
};
