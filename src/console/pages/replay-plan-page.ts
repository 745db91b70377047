/** Before a bulk replay: how many, whom, who would be left out, and the question. */

import { html } from 'hono/html';
import { secondsOfOne } from '../../operators/prompt-limit.ts';
import type { ReplayPlan } from '../../operators/replays.ts';
import { faultTable, isFaultCode } from '../../protocol/fault.ts';
import type { ConsoleSession } from '../deps.ts';
import type { ShownPlan, ShownRow } from '../redaction.ts';
import { layOut } from './layout.ts';
import { type FilterForm, filterWords, queryOf } from './list-filter.ts';
import { banner, count, counted, csrfField, duration, type Html, nothing } from './markup.ts';

/**
 * reason    None was written.
 * rate      It cannot be read, or is out of bounds.
 * more      By now there is more to replay than was shown.
 * nothing   By now there is nothing to replay.
 */
export type PlanProblem = 'reason' | 'rate' | 'more' | 'nothing';

export interface PlanModel {
  readonly session: ConsoleSession;
  readonly form: FilterForm;
  /** What the role may see. */
  readonly plan: ShownPlan;
  readonly problem: PlanProblem | undefined;
  /** As they were written. */
  readonly reason: string;
  readonly perSecond: string;
}

const refusals = {
  login: 'Logins are never replayed: nobody waits for them any more',
  never: 'The fault is never replayed: the request itself is wrong',
  role: 'Your role does not allow it',
  reason: 'A reason is needed',
  attempts: 'Attempted too often already',
  'not-failed': 'Not failed any more',
  unknown: 'Not known any more',
} as const satisfies Record<keyof ReplayPlan['refused'], string>;

const problems: Readonly<Record<PlanProblem, readonly [title: string, text: string]>> = {
  reason: ['A reason is needed', 'Say why, in at most 500 characters.'],
  rate: ['The rate cannot be read', 'Give a number above 0 and at most 1000.'],
  more: ['There are more now', 'Look at the new numbers before you start.'],
  nothing: ['There is nothing to replay now', 'Somebody was quicker, or they are gone.'],
};

const tableOf = (caption: string, rows: readonly (readonly [string, number])[]): Html =>
  html`<table><caption>${caption}</caption><thead><tr><th scope="col"><span class="unseen">Which</span></th><th scope="col" class="number">Transactions</th></tr></thead><tbody>${rows
    .toSorted((a, b) => b[1] - a[1])
    .map(
      ([name, number]) => html`<tr><th scope="row">${name}</th><td class="number">${count(number)}</td></tr>`,
    )}</tbody></table>`;

const faultName = (code: string): string =>
  isFaultCode(Number(code)) ? `${code} ${faultTable[Number(code) as keyof typeof faultTable].reason}` : code;

const question = ({ session, form, plan, problem, reason, perSecond }: PlanModel): Html => {
  const rate = Number(perSecond);
  const lasts = rate > 0 ? Math.max(plan.replayable / rate, secondsOfOne(plan.mostOfOne)) * 1000 : undefined;
  return html`<form class="ask narrow" method="post" action="/admin/replays">${csrfField(session.csrf)}
${Object.entries(form).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<input type="hidden" name="expected" value="${plan.replayable}">
<h2>Replay ${counted(plan.replayable, 'transaction')}</h2>
<p>This prompts ${counted(plan.numbers, 'person', 'people')}. One with several transactions is prompted for one of them at a time, and not many times a minute.</p>
<div class="field"><label for="reason">Reason</label><textarea id="reason" name="reason" maxlength="500" required${problem === 'reason' ? html` aria-invalid="true"` : ''} aria-describedby="reason-hint">${reason}</textarea><span class="hint" id="reason-hint">It is kept in the audit log.</span></div>
<div class="field"><label for="perSecond">Replays in a second, at most</label><input id="perSecond" name="perSecond" type="number" min="0.01" max="1000" step="any" required value="${perSecond}"${problem === 'rate' ? html` aria-invalid="true"` : ''} aria-describedby="rate-hint"><span class="hint" id="rate-hint">${
    lasts === undefined
      ? 'Fewer spare the phone network.'
      : `So the prompting takes ${duration(Math.max(1000, lasts))} or more${
          plan.mostOfOne > 1 ? `: one person has ${count(plan.mostOfOne)} of them` : ''
        }.`
  }</span></div>
<div class="actions"><button type="submit">Start the replay</button><a href="/admin/transactions${queryOf({ ...form, state: 'failed' })}">Back to the list</a></div>
</form>`;
};

const promptedRow = ({ msspTransId, apId, msisdn, fault, attempt }: ShownRow): Html =>
  html`<tr role="row"><th scope="row" role="rowheader" class="first"><a class="code" href="/admin/transactions/${encodeURIComponent(msspTransId)}">${msspTransId}</a></th><td role="cell" class="wide">${apId || '—'}</td><td role="cell" class="nowrap">${msisdn}</td><td role="cell" class="wide">${
    fault === undefined ? '' : html`${fault.code} ${fault.reason}`
  }</td><td role="cell" class="number" data-label="attempt">${attempt}</td></tr>`;

const prompted = ({ first, replayable }: ShownPlan): Html => {
  const more = replayable - first.length;
  const titles = ['Transaction', 'Application', 'Number', 'Fault', 'Attempt'];
  return html`<h2 id="whom">Whom it would prompt</h2>
<table class="cards" role="table" aria-labelledby="whom"><thead role="rowgroup"><tr role="row">${titles.map(
    (title) =>
      html`<th scope="col" role="columnheader" class="${title === 'Attempt' ? 'number' : ''}">${title}</th>`,
  )}</tr></thead><tbody role="rowgroup">${first.map(promptedRow)}</tbody></table>
${more > 0 ? html`<p>… and ${count(more)} more.</p>` : nothing}`;
};

export const planPage = (model: PlanModel): string => {
  const { session, form, plan, problem } = model;
  const { found, replayable, numbers, byFault, byAp, refused, truncated } = plan;
  const left = (Object.keys(refusals) as (keyof typeof refusals)[]).filter((why) => refused[why] > 0);
  const words = filterWords(form);
  return layOut({
    title: problem === undefined ? 'Plan a replay' : 'Error: Plan a replay',
    session,
    current: 'replays',
    main: html`<h1>Plan a replay</h1>
${problem === undefined ? nothing : banner('bad', ...problems[problem])}
<p>Nobody has been prompted yet. This is what a replay of all failed transactions ${
      words.length === 0 ? 'would do.' : 'by this filter would do:'
    }</p>
${words.length === 0 ? nothing : html`<dl class="facts narrow">${words.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`}
<dl class="tiles"><div><dt>Failed, found</dt><dd>${count(found)}</dd></div><div><dt>Would be replayed</dt><dd>${count(replayable)}</dd></div><div><dt>People prompted</dt><dd>${count(numbers)}</dd></div><div><dt>Left out</dt><dd>${count(found - replayable)}</dd></div></dl>
${truncated ? banner('plain', 'There are more', 'A bulk holds no more than these. Narrow the filter to know which.') : nothing}
<div class="columns"><div>${replayable === 0 ? html`<p class="empty">There is nothing to replay. <a href="/admin/transactions${queryOf({ ...form, state: 'failed' })}">Back to the list</a></p>` : question(model)}</div>
<div>${
      replayable === 0
        ? nothing
        : html`<div class="panel">${tableOf(
            'Would be replayed, by fault',
            Object.entries(byFault).map(([code, number]) => [faultName(code), number] as const),
          )}</div>
<div class="panel">${tableOf('Would be replayed, by application', Object.entries(byAp))}</div>`
    }
${
  left.length === 0
    ? nothing
    : html`<div class="panel">${tableOf(
        'Left out',
        left.map((why) => [refusals[why], refused[why]] as const),
      )}</div>`
}</div></div>
${replayable === 0 ? nothing : prompted(plan)}`,
  });
};
