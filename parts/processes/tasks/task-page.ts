/**
 * The page of one signer, and the page of a link that leads to nothing. Pure: from a model to text.
 */
import { html } from 'hono/html';
import type { PageFrame } from '../../../src/http/pages/assets.ts';
import type { PageLanguage } from '../../../src/http/pages/languages.ts';
import { layOut, layOutWarning } from '../../../src/http/pages/layout.ts';
import {
  buttonForm,
  errorSummary,
  type FormTarget,
  type Html,
  hiddenToken,
  icons,
  readableNumber,
  unbroken,
} from '../../../src/http/pages/markup.ts';
import { shownText } from '../../../src/http/pages/shown-text/shown-text.js';
import { scriptHead, waitingBlock, waitingHead } from '../../../src/http/pages/waiting.ts';
import { maxReasonLength, type Task } from './tasks.ts';
import { de } from './words-de.ts';
import { en, type TaskWords } from './words-en.ts';
import { fr } from './words-fr.ts';
import { it } from './words-it.ts';

const words: Readonly<Record<PageLanguage, TaskWords>> = { en, de, fr, it };

const taskWords = (language: PageLanguage): TaskWords => words[language];

export type NoticeCause = keyof TaskWords['notices'];

export interface TaskView extends FormTarget {
  readonly task: Task;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What another part shows before the text. */
  readonly section?: Html | undefined;
  /** What was wrong with the form that the person has just sent; `reason` is what was typed. */
  readonly formError?:
    | { readonly problem: 'service' | 'tooLong'; readonly reason?: string }
    | undefined;
}

/** Dates as the language writes them in Switzerland; the reader's time zone is not known. */
const instant = (language: PageLanguage, at: number): string =>
  new Intl.DateTimeFormat(`${language}-${language === 'en' ? 'GB' : 'CH'}`, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  }).format(at);

/** Enough to recognise a number, too little to learn it from a link. */
const shortened = (msisdn: string): string => {
  const [country = ''] = readableNumber(msisdn).split(' ', 1);
  return unbroken(`${country} … ${msisdn.slice(-2)}`);
};

/** Names and texts of others may be written in either direction, and must not turn ours around. */
const apart = (text: string): Html => html`<bdi>${shownText(text)}</bdi>`;

/** The same within a sentence. */
const isolated = (text: string): string => `\u2068${shownText(text)}\u2069`;

const document = ({ text }: Task, { about }: TaskWords): Html =>
  html`<section class="document" aria-labelledby="text"><h2 id="text">${about.text}</h2><p dir="auto">${shownText(text)}</p></section>`;

const facts = ({ title, step, signed }: Task, { about }: TaskWords, language: PageLanguage): Html =>
  html`<dl class="facts">
${title === undefined ? '' : html`<div><dt>${about.purpose}</dt><dd>${apart(title)}</dd></div>`}
<div><dt>${about.step}</dt><dd>${apart(step)}</dd></div>
<div><dt>${about.signed}</dt>${
    signed.length === 0
      ? html`<dd>${about.nobody}</dd>`
      : signed.map(
          ({ name, at }) =>
            html`<dd>${apart(name)} <time datetime="${new Date(at).toISOString()}">${instant(language, at)}</time></dd>`,
        )
  }</div>
</dl>`;

const declineForm = (view: TaskView, { decline, error }: TaskWords): Html => {
  const isWrong = view.formError?.problem === 'tooLong';
  return html`<details class="other"${isWrong ? html` open` : ''}><summary>${decline.summary}</summary>
<form method="post" action="${view.pagePath}/decline" novalidate>
${hiddenToken(view)}
<div class="field${isWrong ? ' wrong' : ''}">
<label for="reason">${decline.label}</label>
<p class="hint" id="reason-hint">${decline.hint}</p>
${isWrong ? html`<p class="error" id="reason-error"><span class="unseen">${error}: </span>${decline.tooLong}</p>` : ''}
<textarea id="reason" name="reason" rows="3" maxlength="${maxReasonLength}" aria-describedby="reason-hint${
    isWrong ? ' reason-error' : ''
  }"${isWrong ? html` aria-invalid="true"` : ''}>${view.formError?.reason}</textarea>
</div>
<button class="secondary" type="submit">${decline.send}</button>
</form></details>`;
};

const problemBlock = (text: string): Html => html`<p class="problem" role="status">${text}</p>`;

const openPage = (
  frame: PageFrame,
  view: TaskView,
  state: Extract<Task['state'], { kind: 'open' }>,
) => {
  const words = taskWords(frame.language);
  const { task, formError } = view;
  const { title, lead, how, exhausted, sign } = words.open;
  const error =
    formError && (formError.problem === 'service' ? words.problems.service : words.decline.tooLong);
  return layOut(frame, {
    title,
    hasError: error !== undefined,
    // Its buttons are held where this page has taken the place of the one that waits.
    head: scriptHead(frame),
    main: html`${
      error === undefined
        ? ''
        : errorSummary(
            words.problemTitle,
            error,
            formError?.problem === 'tooLong' ? 'reason' : undefined,
          )
    }
${icons.phone}
<h1>${title}</h1>
<p class="lead">${lead(isolated(task.application), isolated(task.name))}</p>
${state.problem === undefined ? '' : problemBlock(words.problems[state.problem])}
${view.section ?? ''}
${document(task, words)}
${facts(task, words, frame.language)}
<p>${state.mayAsk ? how(shortened(task.msisdn)) : exhausted}</p>
${state.mayAsk ? html`<div class="actions reach">${buttonForm(view, 'sign', sign, 'primary')}</div>` : ''}
${declineForm(view, words)}`,
  });
};

const askingPage = (frame: PageFrame, view: TaskView, deadline: number): string => {
  const words = taskWords(frame.language);
  const { task } = view;
  const { title, lead, differs } = words.asking;
  const secondsLeft = Math.max(0, Math.ceil((deadline - view.now) / 1000));
  return layOut(frame, {
    title,
    head: waitingHead(frame),
    main: html`${icons.ringing}
<h1>${title}</h1>
<p class="lead">${lead(shortened(task.msisdn))}</p>
<p>${words.open.lead(isolated(task.application), isolated(task.name))}</p>
${document(task, words)}
${waitingBlock(frame, view.pagePath, secondsLeft)}
${facts(task, words, frame.language)}
<p class="note">${differs}</p>`,
  });
};

const endedIcons = {
  signed: icons.done,
  refused: icons.stopped,
  withdrawn: icons.stopped,
} as const;

/** Without text and names: a link that is found later tells no more than it must. */
const endedPage = (
  frame: PageFrame,
  { application }: Task,
  end: Extract<Task['state'], { kind: 'ended' }>,
) => {
  const { ended } = taskWords(frame.language);
  const { title, what } = ended[end.how];
  return layOut(frame, {
    title,
    main: html`${endedIcons[end.how]}
<h1>${title}</h1>
<p class="lead" role="status">${what(isolated(application), instant(frame.language, end.at))}</p>
<p>${ended.close}</p>`,
  });
};

export const taskPage = (frame: PageFrame, view: TaskView): string => {
  const { state } = view.task;
  switch (state.kind) {
    case 'open':
      return openPage(frame, view, state);
    case 'asking':
      return askingPage(frame, view, state.deadline);
    case 'ended':
      return endedPage(frame, view.task, state);
  }
};

export const taskNotice = (frame: PageFrame, cause: NoticeCause): string =>
  layOutWarning(frame, taskWords(frame.language).notices[cause], html``);
