/**
 * The part of a page that waits for the phone. With script the page learns of news at once;
 * without, it reloads every few seconds. The clock is not a live region: a screen reader says once
 * that time is nearly over.
 */
import { html } from 'hono/html';
import { assetAddress, type PageFrame } from './assets.ts';
import type { Html } from './markup.ts';
import { sharedWords } from './words.ts';

const reloadSeconds = 3;
const nearlyOverSeconds = 20;

/** 80 is `1:20`. */
const clock = (seconds: number): string => {
  const left = Math.max(0, Math.floor(seconds));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
};

export const scriptHead = (frame: PageFrame): Html =>
  html`<script src="${assetAddress(frame, 'login.js')}" defer></script>`;

export const waitingHead = (frame: PageFrame): Html =>
  html`<noscript><meta http-equiv="refresh" content="${reloadSeconds}"></noscript>
${scriptHead(frame)}`;

/** @param pagePath `/events` and `/state` below it say when there is news. */
export const waitingBlock = (
  { language }: PageFrame,
  pagePath: string,
  secondsLeft: number,
): Html => {
  const { status, timeLeft, nearlyOver } = sharedWords[language];
  return html`<div class="waiting" id="waiting" data-events="${pagePath}/events" data-state="${pagePath}/state" data-seconds="${secondsLeft}" data-nearly-seconds="${nearlyOverSeconds}" data-nearly-over="${nearlyOver(nearlyOverSeconds)}">
<p class="status" role="status" id="status">${status}<span class="dots" aria-hidden="true"><span>.</span><span>.</span><span>.</span></span></p>
<p class="time" role="timer" aria-live="off">${timeLeft} <span id="clock">${clock(secondsLeft)}</span></p>
</div>`;
};
