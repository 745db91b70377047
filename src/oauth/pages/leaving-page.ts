/**
 * The last page: it moves on by itself, and has a link for browsers that do not. A form's answer could not lead to the
 * client, since the policy bounds where forms go.
 */
import { html } from 'hono/html';
import type { PageFrame } from './frame.ts';
import { icons } from './markup.ts';
import { layOut } from './page.ts';
import type { LoginView } from './views.ts';
import { wordsOf } from './vocabulary.ts';

export const leavingPage = (
  frame: PageFrame,
  { url, how }: Extract<LoginView, { kind: 'leaving' }>,
): string => {
  const words = wordsOf(frame.language);
  const { title, what } = words.leaving[how];
  return layOut(frame, {
    title,
    head: html`<meta http-equiv="refresh" content="0;url=${url}">`,
    main: html`${how === 'signed' ? icons.done : icons.leaving}
<h1>${title}</h1>
<p class="lead" role="status">${what}</p>
<div class="actions"><a class="primary button" href="${url}">${words.leaving.onward(frame.clientName ?? words.someClient)}</a></div>`,
  });
};
