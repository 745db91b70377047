/**
 * The progress of a process: pure functions over its context.
 *
 * Each person who is or was asked in a step has a branch. A substitute has a branch of its own,
 * with the same key; the replaced branch stays, for the evidence.
 */
import {
  holds,
  isStep,
  type PlanItem,
  type PlanStep,
  type ProcessPlan,
  type StepResult,
} from './process-plan.ts';
import type {
  Completed,
  Person,
  SignerContext,
  SignerEnd,
  SignerInput,
  SignerOutput,
} from './signer-contract.ts';

/** The key of the branch of the person to whom a step escalates. */
export const escalatedKey = 'escalated';

export interface Branch {
  readonly key: string;
  /** 0 for the signer, n for its n-th substitute. */
  readonly place: number;
  /** The name of the child. */
  readonly child: string;
  /** `leaving`: the signer was not reached and is being withdrawn; then a substitute is asked. */
  readonly state: 'open' | 'signed' | 'refused' | 'unreached' | 'leaving' | 'withdrawn';
  /** Whether the child has not ended. */
  readonly isLive: boolean;
  /** True when a substitute was asked instead. */
  readonly isReplaced?: true | undefined;
  /** The time at which it ended, or was not reached; milliseconds since the epoch. */
  readonly at?: number | undefined;
  readonly msspTransId?: string | undefined;
  readonly attempt?: number | undefined;
  /** The code of the fault because of which the person was not reached. */
  readonly code?: number | undefined;
  /** The reason in the person's own words. */
  readonly reason?: string | undefined;
  /** The last mail that was not delivered. `code`: the reply of a server that refused it. */
  readonly undelivered?: { readonly at: number; readonly code?: number | undefined } | undefined;
  readonly proof?: unknown;
  /** The link version of a branch that has ended, for the links to its page. */
  readonly linkVersion?: number | undefined;
  /** The time from which a signature no longer counts, because the process has failed. */
  readonly revokedAt?: number | undefined;
  /** What another part has added to the signature. */
  readonly completed?: Completed | undefined;
}

export interface StepProgress {
  readonly state: 'waiting' | 'open' | 'failed' | 'told' | 'revoked' | StepResult;
  readonly since?: number | undefined;
  /** The time at which the step was over. */
  readonly at?: number | undefined;
  readonly branches: readonly Branch[];
}

export interface Failure {
  /** `UNUSABLE`: what is signed besides a text is not there, or not what it was. */
  readonly reason: 'REFUSED' | 'UNREACHED' | 'EXPIRED' | 'CANCELLED' | 'UNUSABLE';
  readonly at: number;
  /** The name of the step. */
  readonly step?: string | undefined;
  /** The origin of a cancel; `text` is its reason, or says what is unusable. */
  readonly by?: string | undefined;
  readonly text?: string | undefined;
}

export interface ProcessContext extends ProcessPlan {
  readonly createdAt: number;
  /** The index of the current item. Items of the compensation come after the steps. */
  readonly step: number;
  /** The progress of the steps so far. */
  readonly progress: readonly StepProgress[];
  readonly compensates?: true | undefined;
  readonly failure?: Failure | undefined;
  /** The number of failed tries to make the evidence. */
  readonly attests?: number | undefined;
  /** The evidence, a compact JWS. */
  readonly evidence?: string | undefined;
  /** What another part shows of the process: from before the first step, and after the last. */
  readonly prepared?: Readonly<Record<string, unknown>> | undefined;
  readonly finished?: Readonly<Record<string, unknown>> | undefined;
}

/** The items of the plan. Those of the compensation are among them when it has begun. */
export const itemsOf = (context: ProcessContext): readonly PlanItem[] =>
  context.compensates ? [...context.steps, ...context.compensation] : context.steps;

export const itemNow = (context: ProcessContext): PlanItem | undefined =>
  itemsOf(context)[context.step];

export const stepNow = (context: ProcessContext): PlanStep | undefined => {
  const item = itemNow(context);
  return item !== undefined && isStep(item) ? item : undefined;
};

export const branchesOf = ({ progress, step }: ProcessContext): readonly Branch[] =>
  progress[step]?.branches ?? [];

export const liveBranches = (context: ProcessContext): readonly Branch[] =>
  branchesOf(context).filter(({ isLive }) => isLive);

export const beginCompensation = ({
  steps,
  progress,
}: ProcessContext): Partial<ProcessContext> => ({
  compensates: true,
  step: steps.length,
  progress: steps.map((_, index) => progress[index] ?? { state: 'waiting', branches: [] }),
});

export const hasSignatures = ({ progress }: ProcessContext): boolean =>
  progress.some(({ branches }) => branches.some(({ state }) => state === 'signed'));

/** Revokes all signatures so far. One that was revoked before keeps its time. */
export const withRevoked = (
  { progress }: ProcessContext,
  at: number,
): Pick<ProcessContext, 'progress'> => ({
  progress: progress.map((each) => ({
    ...each,
    branches: each.branches.map((branch) =>
      branch.state === 'signed' ? { ...branch, revokedAt: branch.revokedAt ?? at } : branch,
    ),
  })),
});

/** Removes the proofs, because the evidence has the signatures themselves. */
export const withoutProofs = ({ progress }: ProcessContext): Pick<ProcessContext, 'progress'> => ({
  progress: progress.map((each) => ({
    ...each,
    branches: each.branches.map(({ proof: _, ...branch }) => branch),
  })),
});

/** Changes the progress of the current step. */
export const withStep = (
  { progress, step }: ProcessContext,
  change: Partial<StepProgress>,
): Pick<ProcessContext, 'progress'> => ({
  progress: progress.map((each, index) => (index === step ? { ...each, ...change } : each)),
});

/** Changes a branch of the current step. */
export const withBranch = (
  context: ProcessContext,
  child: string,
  change: Partial<Branch>,
): Pick<ProcessContext, 'progress'> =>
  withStep(context, {
    branches: branchesOf(context).map((each) =>
      each.child === child ? { ...each, ...change } : each,
    ),
  });

/** Opens the branch of an unreached signer that asks again. A withdrawn one stays as it is. */
export const reopened = (context: ProcessContext, child: string): Partial<ProcessContext> => {
  const branch = liveBranches(context).find((each) => each.child === child);
  return branch?.state === 'unreached' && stepNow(context)?.onUnreached === 'wait'
    ? withBranch(context, child, { state: 'open', at: undefined, code: undefined })
    : {};
};

/** Whether the condition of the current step does not hold. */
export const isSkipped = (context: ProcessContext): boolean => {
  const condition = stepNow(context)?.if;
  if (condition === undefined) return false;
  const items = itemsOf(context);
  return !holds(condition, (name) => {
    const index = items.findIndex((item) => isStep(item) && item.name === name);
    const found = context.progress[index];
    const signed = found?.branches.filter(({ state }) => state === 'signed').map(({ key }) => key);
    return found && { state: found.state, signed: signed ?? [] };
  });
};

const candidatesOf = (step: PlanStep, key: string): readonly Person[] => {
  if (key === escalatedKey) return step.escalate === undefined ? [] : [step.escalate.to];
  const signer = step.signers.find((each) => each.key === key);
  return signer === undefined ? [] : [signer.person, ...signer.substitutes];
};

export const personOf = (
  step: PlanStep,
  { key, place }: Pick<Branch, 'key' | 'place'>,
): Person | undefined => candidatesOf(step, key)[place];

/** A branch for a person who is to be asked now; undefined when there is no such person. */
export const newBranch = (
  context: ProcessContext,
  key: string,
  place: number,
): Branch | undefined => {
  const step = stepNow(context);
  if (step === undefined || personOf(step, { key, place }) === undefined) return undefined;
  return { key, place, child: `${context.step}-${key}-${place}`, state: 'open', isLive: true };
};

export const signerInput = (
  context: ProcessContext,
  branch: Branch,
  at: number,
): SignerInput | undefined => {
  const step = stepNow(context);
  const person = step && personOf(step, branch);
  if (step === undefined || person === undefined) return undefined;
  const { apId, id, title, prepared } = context;
  const { name, ask, askAgain, remindMs, added } = step;
  const { key, child, place } = branch;
  const as = key === escalatedKey ? 'escalation' : place > 0 ? 'substitute' : undefined;
  return {
    apId,
    process: { id, title },
    step: name,
    key,
    child,
    person,
    ask,
    askAgain,
    remindMs,
    as,
    ...(added !== undefined && { addition: { members: added, prepared: prepared ?? {} } }),
    at,
  };
};

/** The members of a branch that the end of its signer sets. */
export const ending = (branch: Branch, { linkVersion, ...end }: SignerOutput): Partial<Branch> => {
  const { at } = end;
  const over = { isLive: false, linkVersion } as const;
  if (end.kind === 'signed') {
    const { msspTransId, attempt, proof, completed } = end;
    const signed = { state: 'signed', at, msspTransId, attempt, proof, completed } as const;
    return { ...over, ...signed, isReplaced: undefined };
  }
  if (end.kind === 'refused')
    return { ...over, state: 'refused', at, msspTransId: end.msspTransId, reason: end.reason };
  // The branch was given up before.
  if (branch.state === 'leaving' || branch.state === 'unreached')
    return { ...over, state: 'unreached' };
  return { ...over, state: 'withdrawn', at };
};

/**
 * The context of a signer that has ended, for the page behind its links. The child is gone, so it
 * is made from the branch.
 *
 * @param child The name of the child. @returns Undefined when no signer of this name has ended.
 */
export const endedSigner = (context: ProcessContext, child: string): SignerContext | undefined => {
  for (const [step, { branches }] of context.progress.entries()) {
    const branch = branches.find((each) => each.child === child && !each.isLive);
    if (branch?.linkVersion === undefined) continue;
    const { at = 0, state, linkVersion } = branch;
    const input = signerInput({ ...context, step }, branch, at);
    if (input === undefined) continue;
    const kind = state === 'signed' || state === 'refused' ? state : 'withdrawn';
    return {
      ...input,
      since: at,
      asks: [],
      asksLeft: 0,
      notBefore: 0,
      limited: 0,
      reminded: 0,
      linkVersion,
      end: { kind, at } as SignerEnd,
    };
  }
  return undefined;
};

/** The rule for a branch that gives no signature. */
const ruleOf = (step: PlanStep, { state }: Branch) =>
  state === 'refused' ? step.onRefusal : step.onUnreached;

/** Whether a branch has a signature, or may still get one. */
export const isHopeful = (step: PlanStep, branch: Branch): boolean =>
  branch.state === 'signed' ||
  branch.state === 'open' ||
  branch.state === 'leaving' ||
  (branch.state === 'unreached' && !branch.isReplaced && step.onUnreached === 'wait');

export const isDone = (context: ProcessContext): boolean => {
  const step = stepNow(context);
  if (step === undefined) return false;
  const signed = branchesOf(context).filter(({ state }) => state === 'signed');
  const keys = new Set(signed.map(({ key }) => key));
  return keys.has(escalatedKey) || keys.size >= step.need;
};

const isWithinReach = (step: PlanStep, branches: readonly Branch[]): boolean => {
  const hopeful = new Set(branches.filter((each) => isHopeful(step, each)).map(({ key }) => key));
  return hopeful.has(escalatedKey) || hopeful.size >= step.need;
};

/**
 * @returns The failure when the current step cannot be done any more and its rules end the process.
 */
export const lossOf = (context: ProcessContext): 'REFUSED' | 'UNREACHED' | undefined => {
  const step = stepNow(context);
  const branches = branchesOf(context);
  if (step === undefined || isWithinReach(step, branches)) return undefined;
  const lost = branches.find(
    (each) =>
      !each.isReplaced &&
      (each.state === 'refused' || each.state === 'unreached') &&
      !isHopeful(step, each) &&
      ruleOf(step, each) !== 'continue',
  );
  return lost && (lost.state === 'refused' ? 'REFUSED' : 'UNREACHED');
};

/** What is unusable of what somebody was to sign in the current step. */
export const unusableIn = (context: ProcessContext): string | undefined =>
  branchesOf(context)
    .map(({ completed }) => (completed?.kind === 'unusable' ? completed.problem : undefined))
    .find((problem) => problem !== undefined);

/** Whether all branches have ended, and the process may go on without enough signatures. */
export const isUnmet = (context: ProcessContext): boolean => {
  const step = stepNow(context);
  const branches = branchesOf(context);
  if (step === undefined || isWithinReach(step, branches)) return false;
  return !branches.some(
    (each) => each.isLive || (each.state !== 'signed' && isHopeful(step, each)),
  );
};

/** The substitute of a branch that has ended without a signature, if it is to be asked now. */
export const substituteFor = (context: ProcessContext, branch: Branch): Branch | undefined => {
  const step = stepNow(context);
  if (step === undefined || branch.state === 'signed' || branch.state === 'withdrawn')
    return undefined;
  if (branch.isReplaced || ruleOf(step, branch) !== 'substitute') return undefined;
  return newBranch(context, branch.key, branch.place + 1);
};

/** The branch that AGAIN may ask once more. */
export const againBranch = (
  context: ProcessContext,
  order: { readonly step: string; readonly key: string },
): Branch | undefined => {
  const step = stepNow(context);
  if (step?.name !== order.step || step.onUnreached !== 'wait') return undefined;
  return branchesOf(context).find(({ key, state }) => key === order.key && state === 'unreached');
};
