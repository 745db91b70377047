/** Says what has happened and what to do: the first way on that there is stands out. */
import { html } from 'hono/html';
import type { PageFrame } from './frame.ts';
import { buttonForm, type Html, icons } from './markup.ts';
import { layOut } from './page.ts';
import type { FormTarget, LoginView } from './views.ts';
import { wordsOf } from './vocabulary.ts';

export const reference = (label: string, value: string): Html =>
  html`<dl class="reference"><dt>${label}</dt><dd><code>${value}</code></dd></dl>`;

export const failedPage = (frame: PageFrame, view: Extract<LoginView, { kind: 'failed' }>): string => {
  const words = wordsOf(frame.language);
  const { cause, retry, textMessage, otherNumber, returnUrl } = view;
  const { title, what, next } = words.failed.causes[cause];
  const ways = [
    { target: textMessage, label: words.failed.textMessage },
    { target: retry, label: words.failed.retry },
    { target: otherNumber, label: words.failed.otherNumber },
  ].filter((way): way is { target: FormTarget; label: string } => way.target !== undefined);
  const back = words.backTo(frame.clientName ?? words.someClient);
  return layOut(frame, {
    title,
    main: html`${icons.warning}
<h1>${title}</h1>
<p class="lead">${what}</p>
<p>${next}</p>
<div class="actions">
${ways.map(({ target, label }, index) => buttonForm(target, label, index === 0 ? 'primary' : 'secondary'))}
<a class="${ways.length === 0 ? 'primary' : 'quiet'} button" href="${returnUrl}">${back}</a>
</div>
${reference(words.reference, view.reference)}`,
  });
};
