/** Bulks of transactions on pages: replays of failed ones, and cancels of open ones. */
import { count } from '../../transactions/history/fields.ts';
import { transactionFields } from '../../transactions/history/filter.ts';
import type { BulkFace, BulkWords } from '../bulk-face.ts';
import { transactionFilter } from '../filter.ts';
import type { ItemResult } from '../operators/bulk-report.ts';
import type { Role } from '../operators/operator.ts';
import { secondsOfOne } from '../operators/prompt-limit.ts';
import type { Replays } from '../operators/replays.ts';
import type { BulkKind, ReplayPlan } from '../operators/transaction-bulk.ts';
import { transactionRefusals } from '../order-errors.ts';
import { type ShownPlan, shownPlan } from '../redaction.ts';
import { counted, count as shownCount } from './markup.ts';
import { byNumber, lasting } from './plan-pages.ts';
import { faultName } from './replays-page.ts';
import { transactionTable } from './transactions-page.ts';

const { state: _, ...fields } = transactionFields;

const ofReplay: Readonly<Record<ItemResult, string>> = {
  waiting: 'not replayed',
  open: 'replayed, open',
  signed: 'signed',
  failed: 'failed again',
  cancelled: 'cancelled',
  done: 'done',
  changed: 'replayed by another order',
  gone: 'gone',
  refused: 'a login, or of a workflow: not replayed',
};

const words: Readonly<Record<BulkKind, BulkWords>> = {
  replay: {
    title: 'Plan a replay',
    intro: 'No prompt has been sent yet. This is what a replay of',
    of: 'failed transactions',
    done: 'replayed',
    found: 'Failed, found',
    verb: 'Replay',
    heading: 'Replay of',
    rate: 'Replays in a second, at most',
    list: 'Whom it would prompt',
    button: 'Start the replay',
    stops: 'Prompts that were sent stay on their phones.',
    results: ofReplay,
    counts: {
      open: 'Open',
      signed: 'Signed',
      failed: 'Failed again',
      changed: 'By another order',
      refused: 'Logins and of workflows, not replayed',
    },
  },
  cancel: {
    title: 'Plan a cancel',
    intro: 'Nothing is cancelled yet. This is what a cancel of',
    of: 'open transactions',
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
      ...ofReplay,
      waiting: 'not cancelled',
      open: 'being cancelled',
      changed: 'too late: it had ended, or there was an answer',
    },
    counts: { cancelled: 'Cancelled', changed: 'Too late' },
  },
};

export const transactionBulkFace = (list: Replays['transactions']): BulkFace => ({
  list,
  what: ['transaction', 'transactions'],
  fields,
  filter: transactionFilter.omit({ state: true }).extend({ maxAttempts: count(1000).optional() }),
  words,
  refusals: () => transactionRefusals,
  stateOf: (kind) => ({ state: kind === 'replay' ? 'failed' : 'open' }),
  shown: (role: Role, plan: ReplayPlan): ShownPlan => shownPlan(role, plan),
  tiles: ({ numbers }: ShownPlan, kind) => [
    [kind === 'replay' ? 'People prompted' : 'People concerned', shownCount(numbers)],
  ],
  note: ({ numbers }: ShownPlan, kind) =>
    kind === 'replay'
      ? `This prompts ${counted(numbers, 'person', 'people')}. A person with several transactions is prompted for one at a time, and only a few times a minute.`
      : `This concerns ${counted(numbers, 'person', 'people')}. Each ends as fault 401, and its prompt is taken back. Where there is an answer it is too late.`,
  rateHint: ({ replayable: number, mostOfOne }: ShownPlan, kind, perSecond) => {
    if (kind === 'cancel') return 'Applications hear of the ends at this rate.';
    if (!(Number(perSecond) > 0)) return 'A low rate spares the phone network.';
    const why = mostOfOne > 1 ? `: one person has ${shownCount(mostOfOne)} of them` : '';
    const leastSeconds = secondsOfOne(mostOfOne);
    return lasting('the prompting takes', perSecond, { number, leastSeconds }, ` or more${why}.`);
  },
  panels: ({ byFault, byAp }: ShownPlan, kind) => [
    ...(kind === 'replay'
      ? [
          [
            'Would be replayed, by fault',
            byNumber(byFault).map(([code, number]) => [faultName(code), number] as const),
          ] as const,
        ]
      : []),
    [`Would be ${kind === 'replay' ? 'replayed' : 'cancelled'}, by application`, byNumber(byAp)],
  ],
  table: ({ first }: ShownPlan, kind, caption) =>
    transactionTable(caption, first, [
      'application',
      'number',
      kind === 'replay' ? 'fault' : 'state',
      'attempt',
    ]),
});
