/** The plan of an order to many callbacks, and its result. */
import { html } from 'hono/html';
import type { ConsoleSession } from '../../src/console/deps.ts';
import { layOut } from '../../src/console/pages/layout.ts';
import {
  banner,
  count,
  counted,
  countTable,
  csrfField,
  type Html,
  hiddenFields,
  nothing,
  queryOf,
  tiles,
} from '../../src/console/pages/markup.ts';
import { noticeBanner } from '../../src/console/pages/notices.ts';
import {
  byNumber,
  lasting,
  nothingToDo,
  type Order,
  orderFields,
} from '../../src/console/pages/plan-pages.ts';
import { callbackNotices } from './notices.ts';
import {
  type CallbackBulk,
  type CallbackOrder,
  type CallbackPlan,
  callbacksPerSecond,
} from './replays.ts';

/** The texts of each order. */
const words = {
  replay: {
    title: 'Replay callbacks',
    list: 'Dead callbacks',
    of: 'dead callbacks',
    ask: (number: string) => `Replay ${number}`,
    button: 'Replay them',
    doneTitle: 'Callbacks replayed',
    done: (number: string) => `${number} replayed`,
    found: 'Dead, found',
    count: 'Replayed',
  },
  try: {
    title: 'Try callbacks now',
    list: 'Callbacks that are tried again',
    of: 'callbacks that wait for their next try',
    ask: (number: string) => `Try ${number} now`,
    button: 'Try them now',
    doneTitle: 'Callbacks tried now',
    done: (number: string, isOne: boolean) => `${number} ${isOne ? 'is' : 'are'} tried now`,
    found: 'Waiting, found',
    count: 'Tried now',
  },
} as const;

const listOf = (kind: CallbackOrder, apId: string): string =>
  `/admin/callbacks${queryOf({ state: kind === 'try' ? 'retried' : undefined, apId })}`;

export interface CallbackPlanModel extends Order {
  readonly kind: CallbackOrder;
  /** Empty for all applications. */
  readonly apId: string;
  /** For a replay: callbacks must have died before, milliseconds since the epoch. */
  readonly to: number;
  readonly plan: CallbackPlan;
  readonly problem: 'rate' | 'reason' | undefined;
}

const callbackQuestion = (model: CallbackPlanModel): Html => {
  const { session, kind, apId, to, plan, perSecond } = model;
  const { ask, button } = words[kind];
  const hint =
    Number(perSecond) > 0
      ? lasting('the first tries are spread over', perSecond, { number: plan.found }, '.')
      : 'A low rate spares the receiver.';
  const { min, max } = callbacksPerSecond;
  return html`<form class="ask narrow" method="post" action="/admin/callbacks/${kind}">${csrfField(session.csrf)}
${hiddenFields({ apId, to })}
<h2>${ask(counted(plan.found, 'callback'))}</h2>
<p>Each begins with its first try again. The receiver can detect repeated callbacks by their <code>webhook-id</code>.</p>
${orderFields(model, false, 'Callbacks in a second, at most', [min, max], hint)}
<div class="actions"><button type="submit">${button}</button><a href="${listOf(kind, apId)}">Back to the list</a></div>
</form>`;
};

export const callbackPlanPage = (model: CallbackPlanModel): string => {
  const { session, kind, apId, plan, problem } = model;
  const { found, byAp, truncated } = plan;
  const back = listOf(kind, apId);
  const { title, list, of } = words[kind];
  return layOut({
    title: problem === undefined ? title : `Error: ${title}`,
    session,
    current: 'callbacks',
    main: html`<p><a href="${back}">${list}</a></p>
<h1>${title}</h1>
${noticeBanner(problem && callbackNotices[`callback-${problem}`])}
<p>Nothing has been sent yet. ${
      apId === ''
        ? `These are the ${of} of all applications`
        : html`These are the ${of} of <span class="code">${apId}</span>`
    }, up to now.</p>
${truncated ? banner('plain', 'There are more', `These are the newest ${count(found)}. Order again for the others.`) : nothing}
${
  found === 0
    ? nothingToDo(back)
    : html`<div class="columns"><div>${callbackQuestion(model)}</div><div><div class="panel">${countTable(
        'By application',
        ['Application', 'Callbacks'],
        byNumber(byAp),
      )}</div></div></div>`
}`,
  });
};

/** The result of a replay. */
export const callbackBulkPage = (
  session: ConsoleSession,
  kind: CallbackOrder,
  apId: string,
  { found, replayed = 0, tried = replayed, left, truncated }: CallbackBulk,
): string => {
  const back = listOf(kind, apId);
  const { list, doneTitle, done, found: foundLabel, count: countLabel } = words[kind];
  return layOut({
    title: doneTitle,
    session,
    current: 'callbacks',
    main: html`<p><a href="${back}">${list}</a></p>
<h1>${done(counted(tried, 'callback'), tried === 1)}</h1>
${tiles(
  [foundLabel, count(found)],
  [countLabel, count(tried)],
  left === 0 ? undefined : ['Left', count(left), 'by others, or gone'],
)}
<p>They are in the queue, and are delivered at your rate. Callbacks that cannot be delivered are in the list of dead ones after their last try.</p>
${truncated ? banner('plain', 'There are more', html`<a href="/admin/callbacks/plan${queryOf({ kind: kind === 'try' ? kind : undefined, apId })}">Order again</a> for the others.`) : nothing}
<p><a class="button" href="${back}">${list}</a></p>`,
  });
};
