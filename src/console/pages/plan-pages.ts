/** The plan of a bulk: counts, people, left out transactions, and the order form. */
import { html } from 'hono/html';
import type { ConsoleSession } from '../deps.ts';
import { type FilterForm, filterWords } from '../filter.ts';
import { secondsOfOne } from '../operators/prompt-limit.ts';
import type { BulkKind, ReplayPlan } from '../operators/replays.ts';
import { orderErrors } from '../order-errors.ts';
import type { ShownPlan } from '../redaction.ts';
import { layOut } from './layout.ts';
import {
  banner,
  count,
  counted,
  countTable,
  csrfField,
  duration,
  emptyList,
  facts,
  type Html,
  hiddenFields,
  invalid,
  nothing,
  queryOf,
  reasonField,
  tiles,
} from './markup.ts';
import { noticeBanner } from './notices.ts';
import { faultName } from './replays-page.ts';
import { transactionTable } from './transactions-page.ts';

/** The members of every order form. */
export interface Order {
  readonly session: ConsoleSession;
  /** The unparsed text of the field; the same for `perSecond`. */
  readonly reason: string;
  readonly perSecond: string;
  readonly problem: string | undefined;
}

/** The fields for reason and rate. */
export const orderFields = (
  { problem, reason, perSecond }: Order,
  isNeeded: boolean,
  rateLabel: string,
  [min, max]: readonly [number, number],
  rateHint: string | Html,
): Html => html`${reasonField('reason', isNeeded, 'It is kept in the audit log.', reason, problem === 'reason')}
<div class="field"><label for="perSecond">${rateLabel}</label><input id="perSecond" name="perSecond" type="number" min="${min}" max="${max}" step="any" required value="${perSecond}"${invalid(problem === 'rate')} aria-describedby="rate-hint"><span class="hint" id="rate-hint">${rateHint}</span></div>`;

/** The entries of counts, the most frequent first. */
export const byNumber = (counts: Readonly<Record<string, number>>): [string, number][] =>
  Object.entries(counts).toSorted(([, a], [, b]) => b - a);

export const nothingToDo = (back: string): Html =>
  emptyList(html`There is nothing to do. <a href="${back}">Back to the list</a>`);

export interface PlanModel extends Order {
  readonly kind: BulkKind;
  readonly form: FilterForm;
  /** The ids that were selected in the list, instead of a filter. */
  readonly ids: readonly string[];
  /** The part of the plan that the role may see. */
  readonly plan: ShownPlan;
  /** The error of the order. `more`, `nothing`: the plan has changed since it was shown. */
  readonly problem: 'role' | 'reason' | 'rate' | 'more' | 'nothing' | undefined;
}

const refusals = {
  login: orderErrors.login.message,
  workflow: orderErrors.workflow.message,
  never: orderErrors.never.message,
  role: orderErrors.role.message,
  reason: orderErrors.reason.title,
  attempts: 'Attempted too often already',
  'not-failed': 'Not failed',
  'not-open': 'Not open any more',
  unknown: 'Not known any more',
} as const satisfies Record<keyof ReplayPlan['refused'], string>;

/** The texts that differ between the two orders. */
const words = {
  replay: {
    title: 'Plan a replay',
    intro: 'No prompt has been sent yet. This is what a replay of',
    of: 'failed transactions',
    done: 'replayed',
    found: 'Failed, found',
    verb: 'Replay',
    note: 'A person with several transactions is prompted for one at a time, and only a few times a minute.',
    people: 'People prompted',
    rate: 'Replays in a second, at most',
    list: 'Whom it would prompt',
    button: 'Start the replay',
  },
  cancel: {
    title: 'Plan a cancel',
    intro: 'Nothing is cancelled yet. This is what a cancel of',
    of: 'open transactions',
    done: 'cancelled',
    found: 'Open, found',
    verb: 'Cancel',
    note: 'Each ends as fault 401, and its prompt is taken back. Where there is an answer it is too late.',
    people: 'People concerned',
    rate: 'Cancels in a second, at most',
    list: 'What it would cancel',
    button: 'Start the cancels',
  },
} as const satisfies Record<BulkKind, object>;

/**
 * The text with the duration of an order. It names the rate, because the field beside it can be
 * changed. The script updates it with the field.
 *
 * @param leastSeconds The least duration, at any rate.
 */
export const lasting = (
  what: string,
  perSecond: string,
  { number, leastSeconds = 1 }: { readonly number: number; readonly leastSeconds?: number },
  more: string,
): Html =>
  html`<span data-count="${number}" data-least="${leastSeconds}">At <span>${perSecond}</span> in a second ${what} <span>${duration(
    Math.max(1000, leastSeconds * 1000, (number * 1000) / Number(perSecond)),
  )}</span>${more}</span>`;

const rateHint = ({ kind, plan, perSecond }: PlanModel): string | Html => {
  const { replayable: number, mostOfOne } = plan;
  if (kind === 'cancel') return 'Applications hear of the ends at this rate.';
  if (!(Number(perSecond) > 0)) return 'A low rate spares the phone network.';
  const why = mostOfOne > 1 ? `: one person has ${count(mostOfOne)} of them` : '';
  const leastSeconds = secondsOfOne(mostOfOne);
  return lasting('the prompting takes', perSecond, { number, leastSeconds }, ` or more${why}.`);
};

const panel = (caption: string, rows: readonly (readonly [string, number])[]): Html =>
  html`<div class="panel">${countTable(caption, [html`<span class="unseen">Which</span>`, 'Transactions'], rows)}</div>`;

const prompted = ({
  kind,
  plan: { first, replayable },
}: PlanModel): Html => html`<h2>${words[kind].list}</h2>
${transactionTable(words[kind].list, first, ['application', 'number', kind === 'replay' ? 'fault' : 'state', 'attempt'])}
${replayable > first.length ? html`<p>… and ${count(replayable - first.length)} more.</p>` : nothing}`;

const backTo = ({ kind, form }: PlanModel): string =>
  `/admin/transactions${queryOf({ ...form, state: kind === 'replay' ? 'failed' : 'open' })}`;

const question = (model: PlanModel): Html => {
  const { session, kind, form, ids, plan } = model;
  const { replayable, numbers } = plan;
  const { verb, note, rate, button } = words[kind];
  return html`<form class="ask narrow" method="post" action="/admin/replays">${csrfField(session.csrf)}
${hiddenFields({ ...form, kind, ids: ids.join(' '), expected: replayable })}
<h2>${verb} ${counted(replayable, 'transaction')}</h2>
<p>This ${kind === 'replay' ? 'prompts' : 'concerns'} ${counted(numbers, 'person', 'people')}. ${note}</p>
${orderFields(model, true, rate, [0.01, 1000], rateHint(model))}
<div class="actions"><button type="submit"${kind === 'cancel' ? html` class="danger"` : ''}>${button}</button><a href="${backTo(model)}">Back to the list</a></div>
</form>`;
};

export const planPage = (model: PlanModel): string => {
  const { session, kind, form, ids, plan, problem } = model;
  const { found, replayable, numbers, byFault, byAp, refused, truncated } = plan;
  const { title, intro, of, ...word } = words[kind];
  const narrowed = filterWords(form, session.view.times);
  const would = `Would be ${word.done}`;
  const left = byNumber(refused).flatMap(([why, number]) =>
    number === 0 ? [] : [[refusals[why as keyof typeof refusals], number] as const],
  );
  return layOut({
    title: problem === undefined ? title : `Error: ${title}`,
    session,
    current: 'replays',
    main: html`<h1>${title}</h1>
${noticeBanner(problem)}
<p>${intro} ${ids.length > 0 ? counted(ids.length, 'selected transaction') : `all ${of}`} ${
      ids.length > 0 || narrowed.length === 0 ? 'would do.' : 'by this filter would do:'
    }</p>
${ids.length > 0 || narrowed.length === 0 ? nothing : html`<div class="narrow">${facts(...narrowed)}</div>`}
${tiles(
  [word.found, count(found)],
  [would, count(replayable)],
  [word.people, count(numbers)],
  ['Left out', count(found - replayable)],
)}
${truncated ? banner('plain', 'There are more', 'This is the maximum of one bulk. Use a narrower filter.') : nothing}
<div class="columns"><div>${replayable === 0 ? nothingToDo(backTo(model)) : question(model)}</div>
<div>${
      replayable === 0
        ? nothing
        : html`${
            kind === 'cancel'
              ? nothing
              : panel(
                  `${would}, by fault`,
                  byNumber(byFault).map(([code, number]) => [faultName(code), number]),
                )
          }
${panel(`${would}, by application`, byNumber(byAp))}`
    }
${left.length === 0 ? nothing : panel('Left out', left)}</div></div>
${replayable === 0 ? nothing : prompted(model)}`,
  });
};
