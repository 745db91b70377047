/**
 * The page before an order that cannot be undone. It shows the consequences and the target.
 *
 * The button posts to the address of the order. Without `confirmed=yes`, which only the form of
 * this page has, the route answers with this page and changes nothing, so it works without script
 * and also with a form of an older page. No reason is preselected, because it would mostly be
 * recorded unchanged. Two orders do not use this page: the stop of a bulk, which must be quick, and
 * a cancel, whose form requires a typed reason.
 */
import { html } from 'hono/html';
import type { ConsoleSession } from '../deps.ts';
import { layOut, type PageParts } from './layout.ts';
import { banner, facts, type Html, hiddenFields, invalid, nothing, options } from './markup.ts';

export interface Confirmation {
  readonly session: ConsoleSession;
  readonly current: NonNullable<PageParts['current']>;
  /** A question: `Remove the user nora?` */
  readonly title: string;
  /** Facts about the person or the thing that the order is about. */
  readonly about: readonly (readonly [name: string, value: string | Html | undefined])[];
  /** The consequences, each a sentence. */
  readonly consequences: readonly string[];
  /** The address of the order. `fields` are sent with it, beside the token of the session. */
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  /** Fields that the person must fill in. */
  readonly asks?: Html;
  readonly button: string;
  /** The target of the link *Back*. */
  readonly back: string;
  readonly problem?: string | undefined;
}

/** Whether the form comes from the confirmation page. */
export const isConfirmed = (form: Readonly<Partial<Record<string, string>>>): boolean =>
  form.confirmed === 'yes';

/** A required choice, without a preselected value. */
export const choiceField = (
  name: string,
  label: string,
  choices: Parameters<typeof options>[0],
  isWrong: boolean,
): Html =>
  html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}" required${invalid(isWrong)}><option value="">Choose …</option>${options(choices, undefined)}</select></div>`;

/** The field for a reason in the person's own words. */
export const whyField = (isNeeded: boolean, value = '', isWrong = false): Html =>
  html`<div class="field"><label for="why">Why, for the audit log${isNeeded ? '' : ' (optional)'}</label><input id="why" name="why" type="text" maxlength="500" autocomplete="off" value="${value}"${isNeeded ? html` required` : nothing}${invalid(isWrong)}></div>`;

export const confirmPage = (confirmation: Confirmation): string => {
  const { session, current, title, about, consequences, action, fields } = confirmation;
  const { asks = nothing, button, back, problem } = confirmation;
  return layOut({
    title: problem === undefined ? title : `Error: ${title}`,
    session,
    current,
    main: html`<h1>${title}</h1>
${problem === undefined ? nothing : banner('bad', 'Not done', problem)}
<form class="ask narrow" method="post" action="${action}">${hiddenFields({ csrf: session.csrf, ...fields, confirmed: 'yes' })}
${facts(...about)}
<ul>${consequences.map((each) => html`<li>${each}</li>`)}</ul>
<p><strong>This cannot be undone.</strong></p>
${asks}
<div class="actions"><button type="submit" class="danger">${button}</button><a href="${back}">Back, and change nothing</a></div>
</form>`,
  });
};
