/** Bulks of instances of workflows on pages and in the admin API. */
import { html } from 'hono/html';
import { z } from 'zod';
import type { BulkFace, BulkMore, BulkWords } from '../../../src/console/bulk-face.ts';
import type { Written } from '../../../src/console/filter.ts';
import type { BulkList } from '../../../src/console/operators/bulk-list.ts';
import type { ItemResult } from '../../../src/console/operators/bulk-report.ts';
import { valueText } from '../../../src/console/pages/machine-chart.ts';
import { cardTable, linkTo, nothing, timeOf } from '../../../src/console/pages/markup.ts';
import { byNumber, lasting } from '../../../src/console/pages/plan-pages.ts';
import { shownText } from '../../../src/http/pages/shown-text/shown-text.js';
import { filterSchema } from '../../../src/transactions/history/fields.ts';
import { instanceFields } from '../instance-fields.ts';
import type { Workflows } from '../instances/workflows.ts';
import { workflowRefusals } from './refusal-words.ts';
import {
  statusFor,
  type WorkflowBulkKind,
  type WorkflowBulkSelection,
  type WorkflowPlan,
} from './workflow-bulk.ts';
import { viewOf } from './workflow-detail.ts';
import { statusMark } from './workflows-page.ts';

const { status: _, ...fields } = instanceFields;

const results: Readonly<Record<ItemResult, string>> = {
  waiting: 'not begun',
  open: 'being done',
  signed: 'signed',
  failed: 'failed',
  cancelled: 'cancelled',
  done: 'runs again',
  changed: 'had not failed any more, or another order was first',
  gone: 'gone',
  refused: 'its chart takes no REPLAY',
};
const rare = { changed: 'Too late', refused: 'Refused by the chart' } as const;

const words: Readonly<Record<WorkflowBulkKind, BulkWords>> = {
  replay: {
    title: 'Plan a replay',
    intro: 'Nothing runs again yet. This is what a replay of',
    of: 'failed workflows',
    done: 'run again',
    found: 'Failed, found',
    verb: 'Replay',
    heading: 'Replay of',
    rate: 'Replays in a second, at most',
    list: 'What would run again',
    button: 'Start the replay',
    stops: 'What runs again goes on.',
    results,
    counts: { done: 'Run again', ...rare },
  },
  cancel: {
    title: 'Plan a cancel',
    intro: 'Nothing is cancelled yet. This is what a cancel of',
    of: 'open workflows',
    done: 'cancelled',
    found: 'Open, found',
    verb: 'Cancel',
    heading: 'Cancel of',
    rate: 'Cancels in a second, at most',
    list: 'What it would cancel',
    button: 'Start the cancels',
    isDanger: true,
    stops: 'What is cancelled stays cancelled.',
    results: {
      ...results,
      changed: 'too late: it had ended',
      refused: 'its chart takes no cancel in its state',
    },
    counts: { cancelled: 'Cancelled', ...rare },
  },
  send: {
    title: 'Plan an event',
    intro: 'Nothing is sent yet. This is what the event to',
    of: 'open workflows',
    done: 'sent the event',
    found: 'Open, found',
    verb: 'Send the event to',
    heading: 'Event to',
    rate: 'Events in a second, at most',
    list: 'What would get the event',
    button: 'Send the events',
    stops: 'What has taken the event keeps it.',
    results: {
      ...results,
      done: 'has taken the event',
      changed: 'too late: it had ended',
      refused: 'its chart has not taken the event',
    },
    counts: { done: 'Taken', ...rare },
  },
};

const kindIn = (kind: string): WorkflowBulkKind =>
  kind === 'cancel' || kind === 'send' ? kind : 'replay';

const typeSchema = z.string().min(1).max(200);

/** @returns Undefined for members that are no JSON object. */
export const eventIn = (type: string, data: string): { readonly type: string } | undefined => {
  try {
    const members: unknown = data.trim() === '' ? {} : JSON.parse(data);
    const isObject = typeof members === 'object' && members !== null && !Array.isArray(members);
    return isObject && typeSchema.safeParse(type).success ? { ...members, type } : undefined;
  } catch {
    return undefined;
  }
};

/** The event to send. */
const eventMore: BulkMore = {
  fact: ({ eventType = '', eventData = '' }) => ['Event', `${eventType} ${eventData}`.trim()],
  fields: ({ eventType, eventData }) => ({ eventType, eventData }),
  read: ({ eventType = '', eventData = '' }) => {
    if (eventType === '') return 'missing';
    const event = eventIn(eventType, eventData);
    return event === undefined ? 'wrong' : { event };
  },
  form: ({ eventType = '', eventData = '' }: Written, isWrong) =>
    html`<h2>The event</h2><div class="field"><label for="event-type">Type</label><input id="event-type" name="eventType" required maxlength="200" autocomplete="off" spellcheck="false" class="code" value="${eventType}"></div>
<div class="field"><label for="event-data">Other members (optional)</label><textarea id="event-data" name="eventData" class="code" spellcheck="false"${isWrong ? html` aria-invalid="true"` : nothing} aria-describedby="event-data-hint">${eventData}</textarea><span class="hint" id="event-data-hint">A JSON object, such as {"amount": 5}.</span></div>`,
};

export const workflowBulkFace = (
  list: BulkList<WorkflowBulkSelection, WorkflowPlan>,
  workflows: Pick<Workflows, 'findInstance' | 'view'>,
): BulkFace => ({
  list,
  what: ['workflow', 'workflows'],
  fields,
  filter: filterSchema(fields),
  words,
  refusals: (kind) => workflowRefusals(kindIn(kind)),
  stateOf: (kind) => ({ status: statusFor(kind) }),
  more: (kind) => (kind === 'send' ? eventMore : undefined),
  // Only operators plan, and they see all of it.
  shown: (_role, plan) => plan,
  now: (ids) =>
    Promise.all(
      ids.map(async (id) => {
        const instance = await workflows.findInstance(id);
        return instance && statusMark(viewOf(workflows, instance).status);
      }),
    ),
  tiles: () => [],
  note: (_, kind) =>
    ({
      replay: 'The chart of each gets REPLAY, or begins again where it stopped.',
      cancel:
        'A chart that takes CANCEL decides itself what it undoes; any other is stopped. Their applications see it, with your reason.',
    })[kind] ?? 'Each chart decides by its state. The event counts once for each.',
  rateHint: ({ replayable: number }, _, perSecond) =>
    Number(perSecond) > 0
      ? lasting('the bulk takes', perSecond, { number }, ' or more.')
      : 'A low rate spares what the workflows call.',
  panels: ({ byWorkflow, byAp, byReason }: WorkflowPlan, kind) => [
    ...(kind === 'replay' ? [['Why they failed', byNumber(byReason)] as const] : []),
    ['By workflow', byNumber(byWorkflow)],
    ['By application', byNumber(byAp)],
  ],
  table: ({ first }: WorkflowPlan, kind, caption) =>
    html`<div class="scroll list">${cardTable(
      caption,
      [
        'Workflow',
        'Started',
        'Name',
        'Application',
        'State',
        ...(kind === 'replay' ? ['Why it failed'] : []),
      ],
      first.map(
        ({ instanceId, id, createdAt, name, apId, state, reason }) =>
          html`<tr role="row"><th scope="row" role="rowheader" class="first">${linkTo('workflows', instanceId, id)}</th><td role="cell" class="nowrap">${timeOf(createdAt)}</td><td role="cell">${name}</td><td role="cell">${apId || '—'}</td><td role="cell" class="code wide">${valueText(state)}</td>${kind === 'replay' ? html`<td role="cell" class="wide">${shownText(reason ?? '')}</td>` : nothing}</tr>`,
      ),
    )}</div>`,
});
