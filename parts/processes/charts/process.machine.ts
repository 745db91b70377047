/**
 * Life of one signature process: several people sign, step by step. Each signer of the open step is
 * a child (signer.machine.ts).
 *
 * preparing     Another part reads what is signed besides a text (addition.ts), and writes the texts.
 * steps         `choosing` takes the next step whose condition holds. `open` waits for its signers.
 *               `closing` withdraws the prompts of signers who need not sign any more, and waits
 *               until each child has ended.
 * compensation  The process has failed or was cancelled after a signature: the steps for this case
 *               run in the same way. CANCEL and deadlines of the process no longer count.
 * attesting     The evidence of the signatures is made.
 * unattested    The evidence could not be made. It is tried each hour. CANCEL ends the process
 *               without it, in the state that it would have had.
 * finishing     The other part gets the evidence. CANCEL ends the process without it.
 * completed     Every step is over.
 * failed        `context.failure` has the reason.
 * cancelled     The application or an operator has cancelled the process.
 *
 * P1  A step begins only when all children of the step before have ended.
 * P2  A step is decided once. Later events of its signers change nothing.
 * P3  The first failure stands. A process ends once, and is never replayed.
 * P4  A signer that was not reached stays in the open step. AGAIN asks only this signer.
 *
 * Each event has the time `at` which it came, milliseconds since the epoch.
 */
import { assign, enqueueActions, fromPromise, setup } from 'xstate';
import { timeOf } from '../../../machines/signature.machine.ts';
import {
  askAgain,
  askAll,
  endStep,
  escalate,
  failureBy,
  failWith,
  linkedBranches,
  notifyEnd,
  type ProcessEvent,
  type ProcessNotice,
  passOver,
  revokeLink,
  revokeNow,
  type Tell,
  takeEnd,
  takeError,
  takeUnreached,
  tellNow,
  withdrawAll,
} from './process-actions.ts';
import type { PlanItem, PlanStep, ProcessPlan } from './process-plan.ts';
import {
  againBranch,
  beginCompensation,
  branchesOf,
  type Failure,
  hasSignatures,
  isDone,
  isSkipped,
  isUnmet,
  itemNow,
  liveBranches,
  lossOf,
  type ProcessContext,
  reopened,
  stepNow,
  unusableIn,
  withBranch,
  withoutProofs,
  withStep,
} from './process-progress.ts';
import {
  outcomeOf,
  type ProcessReport,
  type ProcessResult,
  reportOf,
  resultOfProcess,
} from './process-report.ts';
import { signerMachine } from './signer.machine.ts';
import type { Completed } from './signer-contract.ts';

export const processVersion = 1;

/** Further tries of the evidence, each ten seconds after the one before. */
const maxSoonAttests = 30;

export interface ProcessInput extends ProcessPlan {
  readonly at: number;
}

/** The input of `prepare`. */
export interface Unprepared {
  readonly members: Readonly<Record<string, unknown>>;
  readonly steps: readonly PlanStep[];
  readonly compensation: readonly PlanItem[];
  /** The deadline of the process. */
  readonly until: number;
}

/** The output of `prepare`: the steps with the texts of all people. */
export type Prepared =
  | (Extract<Completed, { readonly kind: 'added' }> & Pick<Unprepared, 'steps' | 'compensation'>)
  | Extract<Completed, { readonly kind: 'unusable' }>;

/** The input of `finish`. */
export interface Finishing {
  readonly report: ProcessReport;
  readonly evidence: string;
}

const notProvided = (): Promise<never> => Promise.reject(new Error('Only the workers have it'));

const begun = ({ at, ...plan }: ProcessInput): ProcessContext => ({
  ...plan,
  createdAt: at,
  step: 0,
  progress: [],
});

const remaining = (until: number, event: unknown): number => Math.max(until - timeOf(event), 0);

type Given = { readonly context: ProcessContext; readonly event: unknown };
const failExpired = {
  type: 'fail',
  params: ({ context, event }: Given) => failureBy('EXPIRED', { context, event }),
} as const;
const failCancelled = {
  type: 'fail',
  params: ({ context, event }: Given) => failureBy('CANCELLED', { context, event }),
} as const;

/** Both phases go through their items in this way. */
const walk = {
  choosing: {
    always: [
      { guard: 'isOver', target: '#process.deciding' },
      { guard: 'isTell', actions: 'tellNow' },
      { guard: 'isRevoke', actions: 'revokeNow' },
      { guard: 'isSkipped', actions: 'skip' },
      { target: 'open' },
    ],
  },
  open: {
    entry: 'askAll',
    always: [
      { guard: 'isUnusable', target: 'closing', actions: 'spoil' },
      { guard: 'isTooLate', target: 'closing', actions: 'expireStep' },
      { guard: 'isDone', target: 'closing', actions: { type: 'decide', params: 'done' } },
      { guard: 'isLost', target: 'closing', actions: 'lose' },
      { guard: 'isUnmet', target: 'closing', actions: { type: 'decide', params: 'unmet' } },
    ],
    after: {
      stepDeadline: [
        { guard: 'endsByDeadline', target: 'closing', actions: 'expireStep' },
        { target: 'closing', actions: { type: 'decide', params: 'unmet' } },
      ],
      escalation: { guard: 'escalates', actions: 'escalate' },
    },
    on: {
      'xstate.done.actor.*': { actions: 'takeEnd' },
      'xstate.error.actor.*': { actions: 'takeError' },
      UNREACHED: { actions: 'takeUnreached' },
      ASKED: { actions: 'takeAsked' },
      UNDELIVERED: { actions: 'takeUndelivered' },
      AGAIN: { guard: 'mayAskAgain', actions: 'askAgain' },
      REVOKE_LINK: { guard: 'hasLink', actions: 'revokeLink' },
    },
  },
  closing: {
    entry: 'withdrawAll',
    always: { guard: 'isClosed', target: 'choosing', actions: 'endStep' },
    on: {
      'xstate.done.actor.*': { actions: 'takeEnd' },
      'xstate.error.actor.*': { actions: 'takeError' },
    },
  },
} as const;

export const processMachine = setup({
  types: {
    context: {} as ProcessContext,
    events: {} as ProcessEvent,
    input: {} as ProcessInput,
    output: {} as ProcessResult,
  },
  actors: {
    signer: signerMachine,
    /** Makes the evidence: a compact JWS. */
    attest: fromPromise<string, ProcessReport>(() =>
      Promise.reject(new Error('The activity attest is not provided')),
    ),
    /** Of another part (addition.ts). */
    prepare: fromPromise<Prepared, Unprepared>(notProvided),
    finish: fromPromise<Readonly<Record<string, unknown>>, Finishing>(notProvided),
  },
  actions: {
    /** This and the next are effects: the worker implements them. */
    notifyProcess: (_, _notice: ProcessNotice) => {},
    tell: (_, _tell: Tell) => {},

    askAll: enqueueActions((given) => askAll(given as never)),
    escalate: enqueueActions((given) => escalate(given as never)),
    askAgain: enqueueActions((given) => askAgain(given as never)),
    revokeLink: enqueueActions((given) => revokeLink(given as never)),
    takeEnd: enqueueActions((given) => takeEnd(given as never)),
    takeError: enqueueActions((given) => takeError(given as never)),
    takeUnreached: enqueueActions((given) => takeUnreached(given as never)),
    takeAsked: assign(({ context, event }) =>
      event.type === 'ASKED' ? reopened(context, event.child) : {},
    ),
    takeUndelivered: assign(({ context, event }) =>
      event.type === 'UNDELIVERED'
        ? withBranch(context, event.child, { undelivered: { at: timeOf(event), code: event.code } })
        : {},
    ),
    decide: assign(({ context }, state: 'done' | 'unmet') => withStep(context, { state })),
    lose: assign(({ context, event }) =>
      failWith(context, failureBy(lossOf(context) ?? 'REFUSED', { context, event })),
    ),
    spoil: assign(({ context, event }) =>
      failWith(context, {
        ...failureBy('UNUSABLE', { context, event }),
        text: unusableIn(context),
      }),
    ),
    expireStep: assign(({ context, event }) =>
      failWith(context, failureBy('EXPIRED', { context, event })),
    ),
    fail: assign(({ context }, failure: Failure) => failWith(context, failure)),
    withdrawAll: enqueueActions((given) => withdrawAll(given as never)),
    endStep: enqueueActions((given) => endStep(given as never)),
    skip: assign(({ context, event }) => passOver(context, 'skipped', event)),
    tellNow: enqueueActions((given) => tellNow(given as never)),
    revokeNow: enqueueActions((given) => revokeNow(given as never)),
    compensate: assign(({ context }) => beginCompensation(context)),
    notifyEnd: enqueueActions((given) => notifyEnd(given as never)),
    notePrepared: assign((_, prepared: Prepared) =>
      prepared.kind === 'unusable'
        ? {}
        : {
            steps: prepared.steps,
            compensation: prepared.compensation,
            prepared: prepared.members,
          },
    ),
    noteFinished: assign((_, finished: Readonly<Record<string, unknown>>) => ({ finished })),
    countAttest: assign({ attests: ({ context: { attests = 0 } }) => attests + 1 }),
    noteEvidence: assign(({ context }, evidence: string) => ({
      evidence,
      ...withoutProofs(context),
    })),
  },
  guards: {
    isOver: ({ context }) =>
      itemNow(context) === undefined || (context.failure !== undefined && !context.compensates),
    isTell: ({ context }) => 'tell' in (itemNow(context) ?? {}),
    isRevoke: ({ context }) => 'revoke' in (itemNow(context) ?? {}),
    isSkipped: ({ context }) => isSkipped(context),
    isUnusable: ({ context }) => unusableIn(context) !== undefined,
    isPrepared: (_, prepared: Prepared) => prepared.kind === 'added',
    isToFinish: ({ context }) => context.prepared !== undefined,
    hasAddition: ({ context }) => context.added !== undefined,
    isDone: ({ context }) => isDone(context),
    isLost: ({ context }) => lossOf(context) !== undefined,
    isUnmet: ({ context }) => isUnmet(context),
    isClosed: ({ context }) => liveBranches(context).length === 0,
    isTooLate: ({ context }) =>
      branchesOf(context).length === 0 && stepNow(context)?.onDeadline === 'fail',
    endsByDeadline: ({ context }) => stepNow(context)?.onDeadline === 'fail',
    escalates: ({ context }) => stepNow(context)?.escalate !== undefined,
    mayAskAgain: ({ context, event }) =>
      event.type === 'AGAIN' && againBranch(context, event) !== undefined,
    hasLink: ({ context, event }) => linkedBranches(context, event).length > 0,
    isUnfailed: ({ context }) => context.failure === undefined,
    isToCompensate: ({ context }) =>
      context.failure !== undefined &&
      context.compensation.length > 0 &&
      !context.compensates &&
      hasSignatures(context),
    mayAttestSoon: ({ context: { attests = 0 } }) => attests < maxSoonAttests,
    hasFailed: ({ context }) => outcomeOf(context) === 'failed',
    isCancelled: ({ context }) => outcomeOf(context) === 'cancelled',
  },
  delays: {
    deadline: ({ context, event }) => remaining(context.deadline, event),
    stepDeadline: ({ context, event }) => {
      const { deadline } = stepNow(context) ?? {};
      if (deadline === undefined) return remaining(context.deadline, event);
      return 'at' in deadline ? remaining(deadline.at, event) : deadline.afterMs;
    },
    // An infinite delay has no timer in the record.
    escalation: ({ context }) => stepNow(context)?.escalate?.afterMs ?? Number.POSITIVE_INFINITY,
  },
}).createMachine({
  id: 'process',
  initial: 'beginning',
  context: ({ input }) => begun(input),
  output: ({ context }) => resultOfProcess(context),
  states: {
    beginning: {
      always: [{ guard: 'hasAddition', target: 'preparing' }, { target: 'steps' }],
    },
    preparing: {
      invoke: {
        src: 'prepare',
        input: ({ context }) => ({
          members: context.added ?? {},
          steps: context.steps,
          compensation: context.compensation,
          until: context.deadline,
        }),
        onDone: [
          {
            guard: { type: 'isPrepared', params: ({ event }) => event.output },
            target: 'steps',
            actions: { type: 'notePrepared', params: ({ event }) => event.output },
          },
          {
            target: 'deciding',
            actions: {
              type: 'fail',
              params: ({ context, event }) => ({
                ...failureBy('UNUSABLE', { context, event }),
                ...(event.output.kind === 'unusable' && { text: event.output.problem }),
              }),
            },
          },
        ],
        onError: {
          target: 'deciding',
          actions: { type: 'fail', params: (given) => failureBy('UNUSABLE', given) },
        },
      },
      after: { deadline: { target: 'deciding', actions: failExpired } },
      on: { CANCEL: { target: 'deciding', actions: failCancelled } },
    },
    steps: {
      initial: 'choosing',
      after: { deadline: { guard: 'isUnfailed', target: '.closing', actions: failExpired } },
      on: {
        CANCEL: { guard: 'isUnfailed', target: '.closing', actions: failCancelled },
      },
      states: walk,
    },
    deciding: {
      always: [
        { guard: 'isToCompensate', target: 'compensation', actions: 'compensate' },
        { target: 'attesting' },
      ],
    },
    compensation: { initial: 'choosing', states: walk },
    attesting: {
      invoke: {
        src: 'attest',
        input: ({ context }) => reportOf(context),
        onDone: {
          target: 'attested',
          actions: { type: 'noteEvidence', params: ({ event }) => event.output },
        },
        onError: [
          { guard: 'mayAttestSoon', target: 'pausing', actions: 'countAttest' },
          { target: 'unattested' },
        ],
      },
    },
    pausing: { after: { 10000: 'attesting' } },
    unattested: { after: { 3600000: 'attesting' }, on: { CANCEL: 'ending' } },
    attested: { always: [{ guard: 'isToFinish', target: 'finishing' }, { target: 'ending' }] },
    finishing: {
      invoke: {
        src: 'finish',
        input: ({ context }) => ({ report: reportOf(context), evidence: context.evidence ?? '' }),
        onDone: {
          target: 'ending',
          actions: { type: 'noteFinished', params: ({ event }) => event.output },
        },
        onError: 'ending',
      },
      on: { CANCEL: 'ending' },
    },
    ending: {
      always: [
        { guard: 'hasFailed', target: 'failed' },
        { guard: 'isCancelled', target: 'cancelled' },
        { target: 'completed' },
      ],
    },
    completed: { type: 'final', entry: 'notifyEnd' },
    failed: { meta: { job: 'failed' }, entry: 'notifyEnd' },
    cancelled: { meta: { job: 'failed' }, entry: 'notifyEnd' },
  },
});
