/** The plan of a replay of dead callbacks, and its result. */
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
import { type CallbackBulk, type CallbackPlan, callbacksPerSecond } from './replays.ts';

export interface CallbackPlanModel extends Order {
  /** Empty for all applications. */
  readonly apId: string;
  /** The time before which callbacks must have died, in milliseconds since the epoch. */
  readonly to: number;
  readonly plan: CallbackPlan;
  readonly problem: 'rate' | 'reason' | undefined;
}

const callbackQuestion = (model: CallbackPlanModel): Html => {
  const { session, apId, to, plan, perSecond } = model;
  const hint =
    Number(perSecond) > 0
      ? lasting('the first tries are spread over', perSecond, { number: plan.found }, '.')
      : 'A low rate spares the receiver.';
  const { min, max } = callbacksPerSecond;
  return html`<form class="ask narrow" method="post" action="/admin/callbacks/replay">${csrfField(session.csrf)}
${hiddenFields({ apId, to })}
<h2>Replay ${counted(plan.found, 'callback')}</h2>
<p>Each begins with its first try again. The receiver can detect repeated callbacks by their <code>webhook-id</code>.</p>
${orderFields(model, false, 'Callbacks in a second, at most', [min, max], hint)}
<div class="actions"><button type="submit">Replay them</button><a href="/admin/callbacks${queryOf({ apId })}">Back to the list</a></div>
</form>`;
};

export const callbackPlanPage = (model: CallbackPlanModel): string => {
  const { session, apId, plan, problem } = model;
  const { found, byAp, truncated } = plan;
  const back = `/admin/callbacks${queryOf({ apId })}`;
  return layOut({
    title: problem === undefined ? 'Replay callbacks' : 'Error: Replay callbacks',
    session,
    current: 'callbacks',
    main: html`<p><a href="${back}">Dead callbacks</a></p>
<h1>Replay callbacks</h1>
${noticeBanner(problem && callbackNotices[`callback-${problem}`])}
<p>Nothing has been sent yet. ${
      apId === ''
        ? 'These are the dead callbacks of all applications'
        : html`These are the dead callbacks of <span class="code">${apId}</span>`
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
  apId: string,
  { found, replayed, left, truncated }: CallbackBulk,
): string => {
  const back = `/admin/callbacks${queryOf({ apId })}`;
  return layOut({
    title: 'Callbacks replayed',
    session,
    current: 'callbacks',
    main: html`<p><a href="${back}">Dead callbacks</a></p>
<h1>${counted(replayed, 'callback')} replayed</h1>
${tiles(
  ['Dead, found', count(found)],
  ['Replayed', count(replayed)],
  left === 0 ? undefined : ['Left', count(left), 'by others, or gone'],
)}
<p>They are in the queue, and are delivered at your rate. Callbacks that cannot be delivered are in the list of dead ones again after their last try.</p>
${truncated ? banner('plain', 'There are more', html`<a href="/admin/callbacks/plan${queryOf({ apId })}">Order again</a> for the others.`) : nothing}
<p><a class="button" href="${back}">Dead callbacks</a></p>`,
  });
};
