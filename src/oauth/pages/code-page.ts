/** Takes the one-time password that a text message has brought. */
import { html } from 'hono/html';
import type { PageFrame } from './frame.ts';
import { buttonForm, icons, problemSummary, unbroken } from './markup.ts';
import { layOut } from './page.ts';
import type { LoginView } from './views.ts';
import { wordsOf } from './vocabulary.ts';

export const codePage = (frame: PageFrame, view: Extract<LoginView, { kind: 'code' }>): string => {
  const words = wordsOf(frame.language);
  const { action, csrf, phone, problem, triesLeft, cancelAction } = view;
  const { title, lead, label, hint, send, wrong } = words.code;
  const error = problem === undefined ? undefined : wrong(triesLeft);
  return layOut(frame, {
    title,
    hasProblem: error !== undefined,
    main: html`${error === undefined ? '' : problemSummary(words.problemTitle, error, 'code')}
${icons.message}
<h1>${title}</h1>
<p class="lead">${lead(unbroken(phone))}</p>
<form method="post" action="${action}" autocomplete="off" novalidate>
<input type="hidden" name="csrf" value="${csrf}">
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
<div class="actions">${buttonForm({ action: cancelAction, csrf }, words.cancel, 'quiet')}</div>`,
  });
};
