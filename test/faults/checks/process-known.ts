/**
 * What is known of each process from outside: its definition, answers over HTTP, callbacks, the
 * transactions and prompts of its people.
 */
import type { PlanStep, ProcessPlan } from '../../../parts/processes/charts/process-plan.ts';
import { createDefinitionSchema } from '../../../parts/processes/definition/definition.ts';
import { planOf } from '../../../parts/processes/definition/plan.ts';
import { type Evidence, hindrances, type Violation } from '../evidence.ts';
import { excused } from '../excuses.ts';
import { processesId } from '../people.ts';
import type { Answer, ProcessRun } from '../process-clients.ts';

/** How late a timer may be, after its time and all faults. */
export const timerMs = 5000;
/** A transaction of a process. */
export interface Prompt {
  readonly id: string;
  readonly step: string;
  readonly key: string;
  readonly place: number;
  readonly msisdn: string;
  readonly addedAt: number;
  /** When a worker noted that it asks the phone; undefined for a transaction that ended before. */
  readonly askedAt: number | undefined;
  /** When a worker noted the signature; undefined for a transaction without one. */
  readonly signedAt: number | undefined;
  readonly endedAt: number;
  readonly isSigned: boolean;
  /** It expired, or did not reach the phone: the definition may ask again. */
  readonly isMissed: boolean;
  /** The process has taken it off the phone. */
  readonly isWithdrawn: boolean;
}

/** A process and all that is known of it. */
export interface Known {
  readonly run: ProcessRun;
  readonly evidence: Evidence;
  readonly plan: ProcessPlan;
  /** Those of the compensation after the others. */
  readonly steps: readonly PlanStep[];
  readonly prompts: readonly Prompt[];
  readonly final: Answer | undefined;
}

export type Rule = (known: Known) => Iterable<Omit<Violation, 'id'>>;

export const never = Number.POSITIVE_INFINITY;
export const isStep = (item: object): item is PlanStep => 'signers' in item;

export const groupsOf = <T>(
  all: readonly T[],
  keyOf: (each: T) => string,
): ReadonlyMap<string, readonly T[]> => {
  const groups = new Map<string, T[]>();
  for (const each of all) groups.set(keyOf(each), [...(groups.get(keyOf(each)) ?? []), each]);
  return groups;
};

export const promptsOf = ({
  jobs,
  timeline,
  asked,
}: Evidence): ReadonlyMap<string, readonly Prompt[]> => {
  const prompts = new Map<string, Prompt[]>();
  const shown = new Set(asked.map(({ id }) => id));
  for (const { id, apTransId, msisdn, text, record, end, failedReason } of jobs.values()) {
    const [, process = '', step = '', key = '', place] =
      /^(\S+) (\S+) (\S+)\/(\d+)$/.exec(text) ?? [];
    if (apTransId !== `process--${process}`) continue;
    const at = (...events: readonly string[]): number =>
      timeline.get(id)?.find(({ event }) => events.includes(event))?.at ?? never;
    const notedAt = (noted: string): number | undefined =>
      record?.history.find(({ state }) => state === noted)?.at;
    const pending = notedAt('pending');
    const endedAt = at('completed', 'failed');
    const askedAt = pending ?? (shown.has(id) || end === 'completed' ? endedAt : undefined);
    const prompt = { id, step, key, place: Number(place), msisdn, addedAt: at('added', 'waiting') };
    const all = {
      ...prompt,
      askedAt,
      signedAt: notedAt('signed'),
      endedAt,
      isSigned: end === 'completed',
      isMissed: /^_(208|209|406) /.test(failedReason ?? ''),
      isWithdrawn: failedReason?.endsWith('The workflow no longer asks') ?? false,
    };
    prompts.set(process, [...(prompts.get(process) ?? []), all]);
  }
  return prompts;
};

export const excusedIn = (evidence: Evidence, due: number): number =>
  excused(hindrances(evidence), due);

export const knownProcesses = (evidence: Evidence): readonly Known[] => {
  const prompts = promptsOf(evidence);
  return evidence.processes.runs.map((run): Known => {
    const final = run.final?.answer;
    const at = final === undefined ? run.startedAt : Date.parse(final.createdAt);
    const plan = planOf(
      createDefinitionSchema().parse(run.shape),
      { apId: processesId, id: run.id },
      at,
    );
    const steps = [...plan.steps, ...plan.compensation.filter(isStep)];
    return { run, evidence, plan, final, steps, prompts: prompts.get(run.id) ?? [] };
  });
};
