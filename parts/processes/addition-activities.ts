/** The activities by which another part adds to processes (addition.ts). */
import type { AnyActorLogic } from 'xstate';
import {
  type ActivityArguments,
  type ActivityPolicy,
  activity,
  type InstanceInHand,
} from '../../packages/engine/src/define.ts';
import { ownIdOf } from '../../src/transactions/jobs/instance-ids.ts';
import type { AdditionWork, InProcess } from './addition.ts';
import type { Finishing, Prepared, Unprepared } from './charts/process.machine.ts';
import { isStep, type PlanItem, type PlanStep } from './charts/process-plan.ts';
import type { Completed, Completion, Person } from './charts/signer-contract.ts';
import type { DefinitionAddition, Members } from './definition/addition.ts';
import { processActivities, processName } from './names.ts';
import type { ProcessData } from './stock-process.ts';

/** Until it answers: what it needs may be away for long, and the process waits. */
const policy: ActivityPolicy = {
  attempts: Number.POSITIVE_INFINITY,
  backoffMs: 500,
  maxBackoffMs: 15_000,
  turnWaitsMs: () => 200,
};

const processOf = ({
  instance: { id, data, createdAt },
  now,
  signal,
}: Pick<ActivityArguments<unknown>, 'now' | 'signal'> & {
  readonly instance: InstanceInHand;
}): InProcess => ({
  apId: (data as ProcessData).apId,
  id: ownIdOf(id, processName),
  instance: id,
  createdAt,
  now,
  signal,
});

/** The members of all people of a step. */
const peopleOf = ({ signers, escalate }: PlanStep): readonly Members[] =>
  [
    ...signers.flatMap(({ person, substitutes }) => [person, ...substitutes]),
    ...(escalate === undefined ? [] : [escalate.to]),
  ].flatMap(({ added }) => (added === undefined ? [] : [added]));

/** @param textOf Of the addition. @returns The same plan with the texts of its people. */
const withTexts = (
  step: PlanStep,
  prepared: Members,
  textOf: DefinitionAddition['textOf'],
): PlanStep => {
  const { added } = step;
  if (added === undefined) return step;
  const write = (person: Person): Person => ({
    ...person,
    text: textOf(person.text, { prepared, step: added, language: person.language }),
  });
  const { signers, escalate } = step;
  return {
    ...step,
    signers: signers.map((signer) => ({
      ...signer,
      person: write(signer.person),
      substitutes: signer.substitutes.map(write),
    })),
    ...(escalate && { escalate: { ...escalate, to: write(escalate.to) } }),
  };
};

/** The part was taken away while a process with its members was open. */
const gone = {
  kind: 'unusable',
  problem: 'This service cannot do what the process needs',
} as const;
const nothing: AdditionWork = {
  prepare: async () => gone,
  complete: async () => gone,
  finish: async () => ({}),
};

export const createAdditionActivities = (
  { textOf }: Pick<DefinitionAddition, 'textOf'> = { textOf: (text) => text },
  work: AdditionWork = nothing,
): Readonly<Record<string, AnyActorLogic>> => {
  return {
    [processActivities.prepare]: activity<Unprepared, Prepared>(async (given) => {
      const { members, steps, compensation, until } = given.input;
      const added = [...steps, ...compensation.filter(isStep)].flatMap((step) =>
        step.added === undefined ? [] : [{ members: step.added, people: peopleOf(step) }],
      );
      const prepared = await work.prepare({ members, steps: added, until }, processOf(given));
      if (prepared.kind === 'unusable') return prepared;
      const write = (step: PlanStep) => withTexts(step, prepared.members, textOf);
      return {
        ...prepared,
        steps: steps.map(write),
        compensation: compensation.map((item): PlanItem => (isStep(item) ? write(item) : item)),
      };
    }, policy),
    [processActivities.complete]: activity<Completion, Completed>(
      (given) => work.complete(given.input, processOf(given)),
      policy,
    ),
    [processActivities.finish]: activity<Finishing, Members>(
      (given) => work.finish(given.input, processOf(given)),
      policy,
    ),
  };
};
