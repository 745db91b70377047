/**
 * Asks for the number. Each form sends one `msisdn`: the choice among the client's numbers and the
 * field for another one are separate forms. Even with one number the person must press the button:
 * a link preview must not make a phone ring.
 */
import { html } from 'hono/html';
import type { PageFrame } from '../../http/pages/assets.ts';
import { layOut } from '../../http/pages/layout.ts';
import {
  buttonForm,
  errorSummary,
  type Html,
  hiddenToken,
  icons,
  readableNumber,
  unbroken,
} from '../../http/pages/markup.ts';
import { scriptHead } from '../../http/pages/waiting.ts';
import { wordsOf } from './page.ts';
import type { NumberError, ViewOf } from './views.ts';
import type { Words } from './words-en.ts';

type NumberView = ViewOf<'number'>;

/** Whether the number that was entered is wrong. With other errors it can stay as it is. */
const isFieldProblem = (problem: NumberError | undefined): boolean =>
  problem === 'missing' || problem === 'malformed' || problem === 'not-listed';

const digitsOf = (text: string): string => text.replaceAll(/\D/g, '');

const form = (view: NumberView, words: Words, fields: Html): Html =>
  html`<form method="post" action="${view.pagePath}/number" novalidate>
${hiddenToken(view)}
${fields}
<button class="primary" type="submit">${words.number.send}</button>
</form>`;

const described = (ids: readonly string[]): Html =>
  ids.length === 0 ? html`` : html` aria-describedby="${ids.join(' ')}"`;

const typed = (words: Words, value: string, error: string | undefined): Html =>
  html`<div class="field${error === undefined ? '' : ' wrong'}">
<label for="msisdn">${words.number.label}</label>
<p class="hint" id="msisdn-hint">${unbroken(words.number.hint)}</p>
${error === undefined ? '' : html`<p class="error" id="msisdn-error"><span class="unseen">${words.error}: </span>${error}</p>`}
<input id="msisdn" name="msisdn" type="tel" inputmode="tel" autocomplete="tel" required value="${value}"${described(
    error === undefined ? ['msisdn-hint'] : ['msisdn-hint', 'msisdn-error'],
  )}${error === undefined ? '' : html` aria-invalid="true"`}>
</div>`;

const chosen = (
  { hints }: NumberView,
  words: Words,
  selected: number,
  error: string | undefined,
): Html =>
  html`<fieldset class="field${error === undefined ? '' : ' wrong'}"${described(error === undefined ? [] : ['choice-error'])}>
<legend>${words.number.choose}</legend>
${error === undefined ? '' : html`<p class="error" id="choice-error"><span class="unseen">${words.error}: </span>${error}</p>`}
${hints.map(
  ({ msisdn }, index) =>
    html`<div class="choice"><input type="radio" id="choice-${index}" name="msisdn" value="+${digitsOf(msisdn)}"${
      index === selected ? html` checked` : ''
    }><label for="choice-${index}">${readableNumber(msisdn)}</label></div>
`,
)}</fieldset>`;

const confirmed = (words: Words, msisdn: string): Html =>
  html`<dl class="known"><dt>${words.number.confirm}</dt><dd>${readableNumber(msisdn)}</dd></dl>
<input type="hidden" name="msisdn" value="+${digitsOf(msisdn)}">`;

interface AskedNumber {
  readonly forms: Html;
  /** The id of the field to which the link of the error leads. */
  readonly fieldId: string | undefined;
}

const ask = (view: NumberView, words: Words, error: string | undefined): AskedNumber => {
  const { hints, manualInput, entered } = view;
  const preferred =
    hints.find((hint) => hint.default) ?? (hints.length === 1 ? hints[0] : undefined);
  const mayType = manualInput || hints.length === 0;
  if (mayType && hints.length < 2) {
    const value = entered ?? (preferred === undefined ? '' : readableNumber(preferred.msisdn));
    return { forms: form(view, words, typed(words, value, error)), fieldId: 'msisdn' };
  }
  const only = hints[0];
  if (hints.length === 1 && only !== undefined) {
    return { forms: form(view, words, confirmed(words, only.msisdn)), fieldId: undefined };
  }
  const named = hints.findIndex(
    ({ msisdn }) => entered !== undefined && digitsOf(msisdn) === digitsOf(entered),
  );
  // A typed number that is none of the choices belongs to the other form, with its error.
  const isOther = mayType && entered !== undefined && entered !== '' && named === -1;
  const selected = named === -1 ? hints.findIndex((hint) => hint.default) : named;
  const choice = form(
    view,
    words,
    chosen(view, words, isOther ? -1 : selected, isOther ? undefined : error),
  );
  if (!mayType) return { forms: choice, fieldId: 'choice-0' };
  const other = form(
    view,
    words,
    typed(words, isOther ? entered : '', isOther ? error : undefined),
  );
  return {
    forms: html`${choice}
<details class="other"${isOther ? html` open` : ''}><summary>${words.number.other}</summary>
${other}
</details>`,
    fieldId: isOther ? 'msisdn' : 'choice-0',
  };
};

/**
 * The phone in a browser: on another device by a QR code that the script renews, on this one by a
 * button. Without the script there is no code, because one that stays would soon be too old.
 */
const phoneStart = (view: NumberView, { number: { phone } }: Words): Html =>
  html`<section class="start" id="waiting" data-events="${view.pagePath}/events" data-state="${view.pagePath}/state" aria-labelledby="start">
<h2 id="start">${phone.title}</h2>
<div class="scan" hidden><img id="qr" data-source="${view.pagePath}/code.svg" width="224" height="224" alt="${phone.image}"><p>${phone.scan}</p></div>
${buttonForm(view, 'phone', phone.open, view.phoneStart === 'required' ? 'primary' : 'secondary')}
</section>`;

export const numberPage = (frame: PageFrame, view: NumberView): string => {
  const words = wordsOf(frame.language);
  const { problem, hints, manualInput, phoneStart: start } = view;
  const title = words.number.title(frame.clientName ?? words.someClient);
  const isChoice = hints.length > 1;
  const text =
    problem === 'missing' && isChoice && !manualInput
      ? words.number.notChosen
      : problem && words.number.problems[problem];
  const isField = isFieldProblem(problem);
  const { forms, fieldId } = ask(view, words, isField ? text : undefined);
  return layOut(frame, {
    title,
    hasError: problem !== undefined,
    ...(start !== 'off' && { head: scriptHead(frame) }),
    main: html`${text === undefined ? '' : errorSummary(words.problemTitle, text, isField ? fieldId : undefined)}
${icons.phone}
<h1>${title}</h1>
<p class="lead">${start === 'required' ? words.number.phone.lead : words.number.lead}</p>
${start === 'off' ? '' : phoneStart(view, words)}
${start === 'required' ? '' : forms}
<div class="actions">${buttonForm(view, 'cancel', words.cancel, 'quiet')}</div>`,
  });
};
