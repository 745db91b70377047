/** The plan of a bulk of any list: counts, what is left out, and the order form. */
import { html } from 'hono/html';
import { type BulkFace, bulkPathOf, pageOf, sectionOf } from '../bulk-face.ts';
import type { ConsoleSession } from '../deps.ts';
import { filterWords, type Written } from '../filter.ts';
import type { BulkPlan } from '../operators/bulk-list.ts';
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
  /** The list. */
  readonly face: BulkFace;
  readonly kind: string;
  readonly form: Written;
  /** The ids that were selected in the list, instead of a filter. */
  readonly ids: readonly string[];
  /** What the address or the form says beside the filter. */
  readonly written: Written;
  /** The part of the plan that the role may see; undefined before the order is complete. */
  readonly plan: BulkPlan | undefined;
  /** The error of the order. `more`, `nothing`: the plan has changed since it was shown. */
  readonly problem: 'role' | 'reason' | 'rate' | 'more' | 'nothing' | 'more-wrong' | undefined;
}

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

const wordsOf = ({ face, kind }: PlanModel) => {
  const words = face.words[kind];
  if (words === undefined) throw new TypeError(`words.${kind}: there are none`);
  return words;
};

const panel = (what: string, caption: string, rows: readonly (readonly [string, number])[]): Html =>
  html`<div class="panel">${countTable(caption, [html`<span class="unseen">Which</span>`, what], rows)}</div>`;

const headed = (noun: string): string => `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;

const firstOf = (model: PlanModel, plan: BulkPlan): Html => {
  const { list } = wordsOf(model);
  const { first, replayable } = plan;
  return html`<h2>${list}</h2>
${model.face.table(plan, model.kind, list)}
${replayable > first.length ? html`<p>… and ${count(replayable - first.length)} more.</p>` : nothing}`;
};

const backTo = ({ face, kind, form }: PlanModel): string =>
  `${pageOf(face)}${queryOf({ ...form, ...face.stateOf(kind) })}`;

const pathOf = ({ face }: PlanModel): string => `/admin${bulkPathOf(face.list.name)}`;

/** What the order has beside its filter, as hidden fields. */
const kept = ({ face, kind, written }: PlanModel): Written =>
  face.more?.(kind)?.fields(written) ?? {};

const question = (model: PlanModel, plan: BulkPlan): Html => {
  const { session, face, kind, form, ids, perSecond } = model;
  const { replayable } = plan;
  const { verb, rate, button, isDanger = false } = wordsOf(model);
  return html`<form class="ask narrow" method="post" action="${pathOf(model)}">${csrfField(session.csrf)}
${hiddenFields({ ...form, ...kept(model), kind, ids: ids.join(' '), expected: replayable })}
<h2>${verb} ${counted(replayable, ...face.what)}</h2>
<p>${face.note(plan, kind)}</p>
${orderFields(model, true, rate, [0.01, 1000], face.rateHint(plan, kind, perSecond))}
<div class="actions"><button type="submit"${isDanger ? html` class="danger"` : ''}>${button}</button><a href="${backTo(model)}">Back to the list</a></div>
</form>`;
};

/** The form for what the order needs beside its filter. */
const moreForm = (model: PlanModel): Html => {
  const { face, kind, form, ids, written, plan, problem } = model;
  const more = face.more?.(kind);
  if (more === undefined) return nothing;
  const fields = html`<form class="ask narrow" method="get" action="${pathOf(model)}/plan">${hiddenFields({ ...form, kind })}${ids.map((id) => hiddenFields({ id }))}
${more.form(written, problem === 'more-wrong')}
<div class="actions"><button type="submit"${plan === undefined ? '' : html` class="plain"`}>Show what it would do</button><a href="${backTo(model)}">Back to the list</a></div></form>`;
  return plan === undefined
    ? fields
    : html`<details id="more"><summary>Change …</summary>${fields}</details>`;
};

const planned = (model: PlanModel, plan: BulkPlan): Html => {
  const { face, kind } = model;
  const { found, replayable, refused, truncated } = plan;
  const words = wordsOf(model);
  const refusals = face.refusals(kind);
  const what = headed(face.what[1]);
  const left = byNumber(refused).flatMap(([why, number]) =>
    number === 0 ? [] : [[refusals[why] ?? why, number] as const],
  );
  return html`${tiles(
    [words.found, count(found)],
    [`Would be ${words.done}`, count(replayable)],
    ...face.tiles(plan, kind),
    ['Left out', count(found - replayable)],
  )}
${truncated ? banner('plain', 'There are more', 'This is the maximum of one bulk. Use a narrower filter.') : nothing}
<div class="columns"><div>${replayable === 0 ? nothingToDo(backTo(model)) : question(model, plan)}${moreForm(model)}</div>
<div>${
    replayable === 0
      ? nothing
      : face.panels(plan, kind).map(([caption, rows]) => panel(what, caption, rows))
  }
${left.length === 0 ? nothing : panel(what, 'Left out', left)}</div></div>
${replayable === 0 ? nothing : firstOf(model, plan)}`;
};

export const planPage = (model: PlanModel): string => {
  const { session, face, form, ids, plan, problem } = model;
  const { title, intro, of } = wordsOf(model);
  const isNarrowed = ids.length === 0 && Object.keys(form).length > 0;
  const more = plan && face.more?.(model.kind)?.fact(model.written);
  const told = [
    ...(more === undefined ? [] : [more]),
    ...(isNarrowed ? filterWords(face.fields, form, session.view.times) : []),
  ];
  return layOut({
    title: problem === undefined ? title : `Error: ${title}`,
    session,
    current: sectionOf(face.list.name),
    main: html`<h1>${title}</h1>
${noticeBanner(problem === 'more-wrong' ? undefined : problem)}
<p>${intro} ${ids.length > 0 ? `${count(ids.length)} selected ${face.what[ids.length === 1 ? 0 : 1]}` : `all ${of}`} ${
      isNarrowed ? 'by this filter would do:' : 'would do.'
    }</p>
${told.length === 0 ? nothing : html`<div class="narrow">${facts(...told)}</div>`}
${plan === undefined ? moreForm(model) : planned(model, plan)}`,
  });
};
