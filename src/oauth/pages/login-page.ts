/** The pages of a login. Pure: from a model to text. */
import { html } from 'hono/html';
import type { PageFrame } from '../../http/pages/assets.ts';
import { layOut, layOutWarning } from '../../http/pages/layout.ts';
import {
  buttonForm,
  errorSummary,
  type Html,
  hiddenToken,
  icons,
  reference,
  spelled,
  unbroken,
} from '../../http/pages/markup.ts';
import { waitingBlock, waitingHead } from '../../http/pages/waiting.ts';
import { numberPage } from './number-page.ts';
import { wordsOf } from './page.ts';
import type { LoginView, ViewOf } from './views.ts';

const token = (name: string, text: string, kind: string): Html =>
  html`<div class="${kind}"><dt>${name}</dt><dd>${spelled(text)}</dd></div>`;

const waitingPage = (frame: PageFrame, view: ViewOf<'waiting'>): string => {
  const words = wordsOf(frame.language);
  const { pagePath, sessionCode, matchNumber, phone, secondsLeft } = view;
  const { title, lead, compare, code, number, differs } = words.waiting;
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
    head: waitingHead(frame),
    main: html`${icons.ringing}
<h1>${title}</h1>
<p class="lead">${lead(unbroken(phone), frame.clientName ?? words.someClient)}</p>
${comparison}
${waitingBlock(frame, pagePath, secondsLeft)}
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
