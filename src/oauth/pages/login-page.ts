/** The pages of a login. Pure: from a model to text. */
import { html } from 'hono/html';
import { assetAddress } from './assets.ts';
import {
  buttonForm,
  errorSummary,
  type Html,
  hiddenToken,
  icons,
  reference,
  spelled,
  unbroken,
} from './markup.ts';
import { numberPage } from './number-page.ts';
import { layOut, layOutWarning, wordsOf } from './page.ts';
import type { LoginView, PageFrame, ViewOf } from './views.ts';

/**
 * Waits for the phone. With script the page learns of news at once; without, it reloads every few
 * seconds. The clock is no live region: a screen reader says once that time is nearly over.
 */
const reloadSeconds = 3;
const nearlyOverSeconds = 20;

/** 80 is `1:20`. */
const clock = (seconds: number): string => {
  const left = Math.max(0, Math.floor(seconds));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
};

const token = (name: string, text: string, kind: string): Html =>
  html`<div class="${kind}"><dt>${name}</dt><dd>${spelled(text)}</dd></div>`;

const waitingPage = (frame: PageFrame, view: ViewOf<'waiting'>): string => {
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

const codePage = (frame: PageFrame, view: ViewOf<'code'>): string => {
  const words = wordsOf(frame.language);
  const { title, lead, label, hint, send, wrong } = words.code;
  const error = view.wrong ? wrong(view.triesLeft) : undefined;
  return layOut(frame, {
    title,
    hasError: view.wrong,
    main: html`${error === undefined ? '' : errorSummary(words.problemTitle, error, 'code')}
${icons.message}
<h1>${title}</h1>
<p class="lead">${lead(unbroken(view.phone))}</p>
<form method="post" action="${view.pagePath}/code" autocomplete="off" novalidate>
${hiddenToken(view)}
<div class="field${error === undefined ? '' : ' wrong'}">
<label for="code">${label}</label>
<p class="hint" id="code-hint">${hint}</p>
${error === undefined ? '' : html`<p class="error" id="code-error"><span class="unseen">${words.error}: </span>${error}</p>`}
<input class="digits" id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="12" spellcheck="false" required aria-describedby="code-hint${
      error === undefined ? '' : ' code-error'
    }"${error === undefined ? '' : html` aria-invalid="true"`}>
</div>
<button class="primary" type="submit">${send}</button>
</form>
<div class="actions">${buttonForm(view, 'cancel', words.cancel, 'quiet')}</div>`,
  });
};

const failedPage = (frame: PageFrame, view: ViewOf<'failed'>): string => {
  const words = wordsOf(frame.language);
  const { ways } = view;
  const back = words.backTo(frame.clientName ?? words.someClient);
  return layOutWarning(
    frame,
    words.failed.causes[view.cause],
    html`<div class="actions">
${ways.map((way, index) => buttonForm(view, way, words.failed.ways[way], index === 0 ? 'primary' : 'secondary'))}
<a class="${ways.length === 0 ? 'primary' : 'quiet'} button" href="${view.pagePath}/return">${back}</a>
</div>
${reference(words.reference, view.reference)}`,
  );
};

/**
 * Moves on by itself, and has a link for other browsers. The answer to a form could not lead to the
 * client, because the policy bounds it.
 */
const leavingPage = (frame: PageFrame, { pagePath, how }: ViewOf<'leaving'>): string => {
  const words = wordsOf(frame.language);
  const { title, what } = words.leaving[how];
  const url = `${pagePath}/${how === 'signed' ? 'finish' : 'return'}`;
  return layOut(frame, {
    title,
    head: html`<meta http-equiv="refresh" content="0;url=${url}">`,
    main: html`${how === 'signed' ? icons.done : icons.leaving}
<h1>${title}</h1>
<p class="lead" role="status">${what}</p>
<div class="actions"><a class="primary button" href="${url}">${words.leaving.onward(frame.clientName ?? words.someClient)}</a></div>`,
  });
};

export const loginPage = (frame: PageFrame, view: LoginView): string => {
  switch (view.kind) {
    case 'number':
      return numberPage(frame, view);
    case 'waiting':
      return waitingPage(frame, view);
    case 'code':
      return codePage(frame, view);
    case 'failed':
      return failedPage(frame, view);
    case 'leaving':
      return leavingPage(frame, view);
  }
};
