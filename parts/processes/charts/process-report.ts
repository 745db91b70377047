/**
 * The outputs of a process: its published view, its result, and the report for the evidence.
 */
import { isStep, type PlanStep } from './process-plan.ts';
import {
  type Branch,
  type Failure,
  isHopeful,
  itemsOf,
  type ProcessContext,
  personOf,
  type StepProgress,
} from './process-progress.ts';
import type { Person } from './signer-contract.ts';

export type ProcessOutcome = 'completed' | 'failed' | 'cancelled';

export interface SignerView {
  readonly key: string;
  readonly name: string;
  /**
   * waiting: the step has not begun. rests: the person was not reached, and AGAIN asks once more.
   * revoked: the person has signed, and the process has failed since.
   */
  readonly state:
    | 'waiting'
    | 'open'
    | 'rests'
    | 'signed'
    | 'revoked'
    | 'refused'
    | 'unreached'
    | 'withdrawn';
  /** Milliseconds since the epoch. */
  readonly at?: number | undefined;
  readonly msspTransId?: string | undefined;
  readonly code?: number | undefined;
  readonly reason?: string | undefined;
  readonly undelivered?: Branch['undelivered'];
  readonly revokedAt?: number | undefined;
}

export interface StepView {
  readonly name: string;
  readonly state: StepProgress['state'];
  readonly need: number;
  readonly signers: readonly SignerView[];
}

/**
 * The published part of the context: no number, no text, no address. With what another part says of
 * the process and of its signers (addition.ts).
 */
export interface ProcessView {
  readonly title?: string | undefined;
  readonly steps: readonly StepView[];
  readonly failure?: Failure | undefined;
}

/** The entry of a person in the evidence. */
export interface ReportEntry {
  readonly step: string;
  readonly key: string;
  readonly person: Person;
  readonly at: number;
  readonly msspTransId?: string | undefined;
  readonly attempt?: number | undefined;
  readonly code?: number | undefined;
  readonly reason?: string | undefined;
  readonly proof?: unknown;
  readonly revokedAt?: number | undefined;
  /** What another part has added to the signature. */
  readonly added?: Readonly<Record<string, unknown>> | undefined;
}

/** The input of `attest`. */
export interface ProcessReport {
  readonly apId: string;
  readonly id: string;
  readonly outcome: ProcessOutcome;
  readonly failure?: Failure | undefined;
  readonly createdAt: number;
  readonly steps: readonly { readonly name: string; readonly state: StepProgress['state'] }[];
  readonly signatures: readonly ReportEntry[];
  readonly refusals: readonly (ReportEntry & { readonly kind: 'refused' | 'unreached' })[];
  /** What another part says of the process. */
  readonly added?: Readonly<Record<string, unknown>> | undefined;
}

export interface ProcessResult extends ProcessView {
  readonly outcome: ProcessOutcome;
}

/** The output of a process that has ended, for applications. */
export interface ProcessOutput extends ProcessResult {
  /** The evidence, a compact JWS. */
  readonly evidence?: string | undefined;
}

export const outcomeOf = ({ failure }: Pick<ProcessContext, 'failure'>): ProcessOutcome =>
  failure === undefined ? 'completed' : failure.reason === 'CANCELLED' ? 'cancelled' : 'failed';

/** The reason of the failed job, one line: `REFUSED step board`. */
export const reasonOfProcess = ({ failure }: ProcessContext): string =>
  failure === undefined
    ? 'completed'
    : [failure.reason, failure.step].filter(Boolean).join(': step ');

const isBegun = (each: StepProgress | undefined): each is StepProgress =>
  each !== undefined && each.state !== 'waiting';

const addedTo = ({ completed }: Branch): Readonly<Record<string, unknown>> | undefined =>
  completed?.kind === 'added' ? completed.members : undefined;

const viewOfBranch = (step: PlanStep, isNow: boolean, branch: Branch): SignerView => {
  const { key, at, msspTransId, code, reason, undelivered, revokedAt } = branch;
  const state = revokedAt === undefined ? branch.state : 'revoked';
  const rests = isNow && state === 'unreached' && isHopeful(step, branch);
  return {
    key,
    name: personOf(step, branch)?.name ?? '',
    state: rests ? 'rests' : state === 'leaving' ? 'open' : state,
    at,
    msspTransId,
    code,
    reason,
    undelivered,
    revokedAt,
    ...addedTo(branch),
  };
};

export const publishProcess = (context: ProcessContext): ProcessView => {
  const { title, progress, failure, prepared, finished } = context;
  const steps = itemsOf(context).flatMap((item, index): StepView[] => {
    if (!isStep(item)) return [];
    const { name, need } = item;
    const found = progress[index];
    const signers = isBegun(found)
      ? found.branches.map((branch) => viewOfBranch(item, found.state === 'open', branch))
      : item.signers.map(({ key, person }) => ({
          key,
          name: person.name,
          state: 'waiting' as const,
        }));
    return [{ name, state: found?.state ?? 'waiting', need, signers }];
  });
  return { ...prepared, ...finished, title, steps, failure };
};

/** One who has refused; `reason` is in the person's own words. */
export type Refusal = Pick<SignerView, 'key' | 'name' | 'reason'>;

/** Who has refused in the step of this name, in the order of the step. */
export const refusalsIn = (context: ProcessContext, step: string | undefined): readonly Refusal[] =>
  publishProcess(context)
    .steps.filter(({ name }) => name === step)
    .flatMap(({ signers }) => signers)
    .filter(({ state }) => state === 'refused')
    .map(({ key, name, reason }) => ({ key, name, ...(reason !== undefined && { reason }) }));

export const reportOf = (context: ProcessContext): ProcessReport => {
  const { apId, id, failure, createdAt, progress, prepared } = context;
  const entries = itemsOf(context).flatMap((item, index) =>
    !isStep(item)
      ? []
      : (progress[index]?.branches ?? []).flatMap((branch) => {
          const {
            key,
            state,
            at = 0,
            msspTransId,
            attempt,
            code,
            reason,
            proof,
            revokedAt,
          } = branch;
          const person = personOf(item, branch);
          const entry = {
            step: item.name,
            key,
            at,
            msspTransId,
            attempt,
            code,
            reason,
            proof,
            revokedAt,
            added: addedTo(branch),
          };
          return person === undefined ? [] : [{ state, entry: { ...entry, person } }];
        }),
  );
  return {
    apId,
    id,
    outcome: outcomeOf(context),
    failure,
    createdAt,
    steps: publishProcess(context).steps.map(({ name, state }) => ({ name, state })),
    signatures: entries.flatMap(({ state, entry }) => (state === 'signed' ? [entry] : [])),
    refusals: entries.flatMap(({ state, entry }) =>
      state === 'refused' || state === 'unreached' ? [{ kind: state, ...entry }] : [],
    ),
    added: prepared,
  };
};

export const resultOfProcess = (context: ProcessContext): ProcessResult => ({
  ...publishProcess(context),
  outcome: outcomeOf(context),
});

export const outputOfProcess = (context: ProcessContext): ProcessOutput => ({
  ...resultOfProcess(context),
  evidence: context.evidence,
});
