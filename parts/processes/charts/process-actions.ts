/**
 * The events, the effects and the actions of a process (process.machine.ts). An action is pure: it
 * only names the effects and activities that follow.
 */
import { z } from 'zod';
import { timeOf } from '../../../machines/signature.machine.ts';
import {
  againBranch,
  type Branch,
  branchesOf,
  ending,
  escalatedKey,
  type Failure,
  itemNow,
  liveBranches,
  newBranch,
  type ProcessContext,
  type StepProgress,
  signerInput,
  stepNow,
  substituteFor,
  withBranch,
  withRevoked,
  withStep,
} from './process-progress.ts';
import { outcomeOf, type Refusal, refusalsIn } from './process-report.ts';
import type { SignerMessage, SignerOutput } from './signer-contract.ts';

/** Events that come from outside. */
export const processEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('CANCEL'),
    reason: z.string().max(500).optional(),
    /** The origin of the cancel: `application`, or the name of the operator. */
    by: z.string(),
  }),
  z.object({ type: z.literal('AGAIN'), step: z.string(), key: z.string() }),
  /** Ends all links to the page of this signer. A reminder brings a new one. */
  z.object({ type: z.literal('REVOKE_LINK'), step: z.string(), key: z.string() }),
]);
export type ProcessOrder = Readonly<z.infer<typeof processEventSchema>>;

type ChildEnd = {
  readonly type: 'xstate.done.actor.signer';
  readonly actorId: string;
  readonly output: SignerOutput;
};
type ChildError = { readonly type: 'xstate.error.actor.signer'; readonly actorId: string };
export type ProcessEvent = ProcessOrder | SignerMessage | ChildEnd | ChildError;

/** The notice to the application, which becomes a callback. */
export interface ProcessNotice {
  readonly what: 'escalated' | 'step' | 'revoked' | 'end';
  readonly apId: string;
  readonly process: { readonly id: string; readonly title?: string | undefined };
  readonly step?: string | undefined;
  /** The state of the step, or of the process. */
  readonly state: string;
  readonly reason?: Failure['reason'] | undefined;
  /** Who has refused in the step, or in the step that failed; absent where nobody has. */
  readonly refusals?: readonly Refusal[] | undefined;
}

/** The effect of the compensation that tells an address of the failure. */
export interface Tell {
  readonly url: string;
  readonly apId: string;
  readonly process: ProcessNotice['process'];
  readonly failure: Failure | undefined;
}

const processOf = ({ id, title }: ProcessContext): ProcessNotice['process'] => ({ id, title });

const refusedIn = (
  context: ProcessContext,
  step: string | undefined,
): Pick<ProcessNotice, 'refusals'> => {
  const refusals = refusalsIn(context, step);
  return refusals.length === 0 ? {} : { refusals };
};

const noticeOf = (what: ProcessNotice['what'], context: ProcessContext): ProcessNotice => {
  const { apId, progress, step, failure } = context;
  const about = { what, apId, process: processOf(context) };
  return what === 'end' || what === 'revoked'
    ? {
        ...about,
        state: outcomeOf(context),
        reason: failure?.reason,
        ...refusedIn(context, failure?.step),
      }
    : {
        ...about,
        step: stepNow(context)?.name,
        state: progress[step]?.state ?? 'open',
        ...refusedIn(context, stepNow(context)?.name),
      };
};

export const failureBy = (
  reason: Failure['reason'],
  { context, event }: { readonly context: ProcessContext; readonly event: unknown },
): Failure => {
  const { by, reason: text } = event as { readonly by?: string; readonly reason?: string };
  return {
    reason,
    at: timeOf(event),
    step: stepNow(context)?.name,
    ...(reason === 'CANCELLED' && { by, text }),
  };
};

/** Notes a failure. The first one stands. A failure in the compensation fails only its step. */
export const failWith = (context: ProcessContext, failure: Failure): Partial<ProcessContext> => ({
  ...(context.progress[context.step]?.state === 'open' && withStep(context, { state: 'failed' })),
  ...(!context.compensates && { failure: context.failure ?? failure }),
});

/** Ends an item without prompts. */
export const passOver = (
  context: ProcessContext,
  state: StepProgress['state'],
  event: unknown,
): Pick<ProcessContext, 'progress' | 'step'> => {
  const at = timeOf(event);
  return {
    progress: [...context.progress, { state, since: at, at, branches: [] }],
    step: context.step + 1,
  };
};

/** The types of `setup` know neither its children nor its effects inside `enqueueActions`. */
type Enqueue = {
  (action: { readonly type: string; readonly params?: unknown }): void;
  assign(change: Partial<ProcessContext>): void;
  sendTo(child: string, event: { readonly type: string }): void;
  spawnChild(src: string, options: { readonly id: string; readonly input: unknown }): void;
  stopChild(child: string): void;
};
interface Given {
  readonly context: ProcessContext;
  readonly event: unknown;
  readonly enqueue: Enqueue;
}
const ask = ({ context, event, enqueue }: Given, branches: readonly Branch[]): void => {
  for (const branch of branches) {
    const input = signerInput(context, branch, timeOf(event));
    if (input !== undefined) enqueue.spawnChild('signer', { id: branch.child, input });
  }
};

/** Notes the end of a branch, and asks the substitute if the rules say so. */
const endBranch = (
  given: Given,
  child: string,
  change: (branch: Branch) => Partial<Branch>,
): void => {
  const { context, enqueue } = given;
  const before = branchesOf(context).find((each) => each.child === child && each.isLive);
  if (before === undefined) return;
  const ended = { ...before, ...change(before) };
  const noted = { ...context, ...withBranch(context, child, ended) };
  enqueue.stopChild(child);
  const isOpen = context.progress[context.step]?.state === 'open';
  const substitute = isOpen ? substituteFor(noted, ended) : undefined;
  if (substitute === undefined) {
    enqueue.assign(noted);
    return;
  }
  const replaced = { ...noted, ...withBranch(noted, child, { isReplaced: true }) };
  enqueue.assign(withStep(replaced, { branches: [...branchesOf(replaced), substitute] }));
  ask(given, [substitute]);
};

export const askAll = (given: Given): void => {
  const { context, event, enqueue } = given;
  const { signers = [], deadline } = stepNow(context) ?? {};
  // A step whose deadline is over sends no prompts.
  const isLate = deadline !== undefined && 'at' in deadline && deadline.at <= timeOf(event);
  const keys = isLate ? [] : signers.map(({ key }) => key);
  const branches = keys.flatMap((key) => newBranch(context, key, 0) ?? []);
  const begins: StepProgress = { state: 'open', since: timeOf(event), branches };
  enqueue.assign({ progress: [...context.progress, begins] });
  ask(given, branches);
};

export const escalate = (given: Given): void => {
  const { context, enqueue } = given;
  const branch = newBranch(context, escalatedKey, 0);
  if (branch === undefined) return;
  enqueue.assign(withStep(context, { branches: [...branchesOf(context), branch] }));
  ask(given, [branch]);
  enqueue({ type: 'notifyProcess', params: noticeOf('escalated', context) });
};

export const askAgain = (given: Given): void => {
  const { context, event, enqueue } = given;
  const branch = againBranch(context, event as Extract<ProcessOrder, { readonly type: 'AGAIN' }>);
  if (branch === undefined) return;
  if (branch.isLive) {
    enqueue.sendTo(branch.child, { type: 'AGAIN' });
    return;
  }
  const opened: Branch = { ...branch, state: 'open', isLive: true };
  enqueue.assign(withBranch(context, branch.child, opened));
  ask(given, [opened]);
};

/** The branches of the open step with this key. */
export const linkedBranches = (context: ProcessContext, event: unknown): readonly Branch[] => {
  const { step, key } = event as Extract<ProcessOrder, { readonly type: 'REVOKE_LINK' }>;
  return stepNow(context)?.name === step
    ? liveBranches(context).filter((each) => each.key === key)
    : [];
};

export const revokeLink = ({ context, event, enqueue }: Given): void => {
  for (const { child } of linkedBranches(context, event))
    enqueue.sendTo(child, { type: 'REVOKE_LINK' });
};

export const takeEnd = (given: Given): void => {
  const { actorId, output } = given.event as ChildEnd;
  endBranch(given, actorId, (branch) => ending(branch, output));
};

/** Ends the branch of a child that could not begin, or that an error of ours has ended. */
export const takeError = (given: Given): void => {
  const at = timeOf(given.event);
  endBranch(given, (given.event as ChildError).actorId, ({ state }) => ({
    state: state === 'open' ? 'unreached' : state,
    isLive: false,
    at,
    code: 900,
  }));
};

export const takeUnreached = ({ context, event, enqueue }: Given): void => {
  const { child, code } = event as Extract<SignerMessage, { readonly type: 'UNREACHED' }>;
  const branch = branchesOf(context).find((each) => each.child === child && each.isLive);
  const rule = stepNow(context)?.onUnreached;
  if (branch === undefined) return;
  const unreached: Branch = { ...branch, state: 'unreached', at: timeOf(event), code };
  const noted = { ...context, ...withBranch(context, child, unreached) };
  const isLeaving = substituteFor(noted, unreached) !== undefined;
  enqueue.assign(isLeaving ? withBranch(noted, child, { state: 'leaving' }) : noted);
  if (rule !== 'wait') enqueue.sendTo(child, { type: 'WITHDRAW' });
};

export const withdrawAll = ({ context, enqueue }: Given): void => {
  const isFailing = context.failure !== undefined;
  for (const { child } of liveBranches(context))
    enqueue.sendTo(child, { type: 'WITHDRAW', ...(isFailing && { isFailing }) } as never);
};

export const endStep = ({ context, event, enqueue }: Given): void => {
  enqueue.assign({ ...withStep(context, { at: timeOf(event) }), step: context.step + 1 });
  enqueue({ type: 'notifyProcess', params: noticeOf('step', context) });
};

export const tellNow = ({ context, event, enqueue }: Given): void => {
  const item = itemNow(context);
  const { apId, failure } = context;
  if (item === undefined || !('tell' in item)) return;
  enqueue.assign(passOver(context, 'told', event));
  enqueue({ type: 'tell', params: { url: item.tell, apId, process: processOf(context), failure } });
};

export const revokeNow = ({ context, event, enqueue }: Given): void => {
  const revoked = { ...context, ...withRevoked(context, timeOf(event)) };
  enqueue.assign({ ...revoked, ...passOver(revoked, 'revoked', event) });
  enqueue({ type: 'notifyProcess', params: noticeOf('revoked', context) });
};

export const notifyEnd = ({ context, enqueue }: Given): void => {
  enqueue({ type: 'notifyProcess', params: noticeOf('end', context) });
};
