/**
 * The plan of a process: its definition with every default filled in and every time in
 * milliseconds.
 *
 * Conditions refer to the results of earlier steps. They are pure data.
 */
import type { Person, SignerInput } from './signer-contract.ts';

/**
 * done     Enough people have signed.
 * unmet    The step is over without enough signatures, and its rules let the process go on.
 * skipped  Its condition did not hold.
 */
export type StepResult = 'done' | 'unmet' | 'skipped';

export type Condition =
  | { readonly step: string; readonly is: StepResult }
  /** Whether this signer, or a substitute, has signed, compared with `signed`. */
  | { readonly step: string; readonly signer: string; readonly signed: boolean }
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition };

export interface PlanSigner {
  readonly key: string;
  readonly person: Person;
  /** The substitutes, who are asked one after the other. */
  readonly substitutes: readonly Person[];
}

export interface PlanStep {
  readonly name: string;
  readonly signers: readonly PlanSigner[];
  /** The number of signatures that the step needs. */
  readonly need: number;
  readonly if?: Condition | undefined;
  readonly ask: SignerInput['ask'];
  readonly askAgain?: SignerInput['askAgain'];
  readonly remindMs: readonly number[];
  /** The deadline: milliseconds since the epoch, or after the beginning of the step. */
  readonly deadline?: { readonly at: number } | { readonly afterMs: number } | undefined;
  /** A person who is asked, too, after this time. That signature alone makes the step done. */
  readonly escalate?: { readonly afterMs: number; readonly to: Person } | undefined;
  /** The rule after a refusal. `substitute` without a remaining substitute means `fail`. */
  readonly onRefusal: 'fail' | 'continue' | 'substitute';
  /** The rule for an unreached signer. `wait`: until AGAIN, or until the person presses Sign. */
  readonly onUnreached: 'wait' | 'fail' | 'continue' | 'substitute';
  readonly onDeadline: 'fail' | 'continue';
  /** Members of another part (addition.ts). */
  readonly added?: Readonly<Record<string, unknown>> | undefined;
}

/** Tells an address that the process has failed. */
export interface PlanTell {
  readonly tell: string;
}

/** Revokes the signatures that were given so far. */
export interface PlanRevoke {
  readonly revoke: 'signatures';
}

/** An item of the plan of a process. */
export type PlanItem = PlanStep | PlanTell | PlanRevoke;

export const isStep = (item: PlanItem): item is PlanStep => 'name' in item;

export interface ProcessPlan {
  readonly apId: string;
  /** The id of the instance. */
  readonly id: string;
  readonly title?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  readonly steps: readonly PlanStep[];
  readonly compensation: readonly PlanItem[];
  /** Members of another part (addition.ts). Without them a signature is all that is asked for. */
  readonly added?: Readonly<Record<string, unknown>> | undefined;
}

export interface StepFacts {
  readonly state: string;
  /** Keys of the signers who have signed. */
  readonly signed: readonly string[];
}

export const holds = (
  condition: Condition,
  factsOf: (step: string) => StepFacts | undefined,
): boolean => {
  if ('all' in condition) return condition.all.every((each) => holds(each, factsOf));
  if ('any' in condition) return condition.any.some((each) => holds(each, factsOf));
  if ('not' in condition) return !holds(condition.not, factsOf);
  const facts = factsOf(condition.step);
  if ('is' in condition) return facts?.state === condition.is;
  return (facts?.signed.includes(condition.signer) ?? false) === condition.signed;
};
