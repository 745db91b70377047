/** The pages that a person sees between the client's “log in” and the way back. Pure: from a model to text. */
import { html } from 'hono/html';
import { buttonForm, hiddenToken, icons, problemSummary, reference, unbroken } from './markup.ts';
import { numberPage } from './number-page.ts';
import { layOut } from './page.ts';
import type { LoginView, PageFrame, ViewOf } from './views.ts';
import { waitingPage } from './waiting-page.ts';
import { wordsOf } from './words.ts';

/** Takes the one-time password that a text message has brought. */
const codePage = (frame: PageFrame, view: ViewOf<'code'>): string => {
  const words = wordsOf(frame.language);
  const { title, lead, label, hint, send, wrong } = words.code;
  const error = view.wrong ? wrong(view.triesLeft) : undefined;
  return layOut(frame, {
    title,
    hasProblem: view.wrong,
    main: html`${error === undefined ? '' : problemSummary(words.problemTitle, error, 'code')}
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

/** Says what has happened and what to do. */
const failedPage = (frame: PageFrame, view: ViewOf<'failed'>): string => {
  const words = wordsOf(frame.language);
  const { title, what, next } = words.failed.causes[view.cause];
  const { ways } = view;
  const back = words.backTo(frame.clientName ?? words.someClient);
  return layOut(frame, {
    title,
    main: html`${icons.warning}
<h1>${title}</h1>
<p class="lead">${what}</p>
<p>${next}</p>
<div class="actions">
${ways.map((way, index) => buttonForm(view, way, words.failed.ways[way], index === 0 ? 'primary' : 'secondary'))}
<a class="${ways.length === 0 ? 'primary' : 'quiet'} button" href="${view.pagePath}/return">${back}</a>
</div>
${reference(words.reference, view.reference)}`,
  });
};

/**
 * The last page: it moves on by itself, and has a link for browsers that do not. A form's answer could not lead to the
 * client, since the policy bounds where forms go.
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
