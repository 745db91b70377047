/**
 * From a definition that was checked to the input of the chart: defaults filled in, milliseconds.
 */

import { readDuration, readInstant } from '../../workflows/index.ts';
import type { ProcessInput } from '../charts/process.machine.ts';
import type { PlanStep } from '../charts/process-plan.ts';
import type { Person } from '../charts/signer-contract.ts';
import { type DefinitionAddition, isEmpty, membersOf } from './addition.ts';
import type { PersonDefinition, ProcessDefinition, StepDefinition } from './definition.ts';
import {
  addedTo,
  compensationDeadlineMs,
  digitsOf,
  keyOf,
  needOf,
  rulesOf,
} from './definition-rules.ts';

const deadlineOf = (text: string): NonNullable<PlanStep['deadline']> => {
  const at = readInstant(text);
  return at === undefined ? { afterMs: readDuration(text) } : { at };
};

const planStep = (
  definition: ProcessDefinition,
  step: StepDefinition,
  addition: DefinitionAddition | undefined,
  usualDeadline?: PlanStep['deadline'],
): PlanStep => {
  const { name, ask, askAgain, remind, deadline, escalate } = step;
  const added = addedTo(definition, step, usualDeadline !== undefined, addition);
  const personOf = (
    person: PersonDefinition,
    text = step.text ?? definition.text ?? '',
  ): Person => {
    const more = membersOf(addition, 'person', person);
    return {
      name: person.name,
      msisdn: `+${digitsOf(person.msisdn)}`,
      text: person.text ?? text,
      language: person.language ?? definition.language,
      profile: person.profile ?? definition.profile,
      email: person.email,
      ...(!isEmpty(more) && { added: more }),
    };
  };
  return {
    name,
    need: needOf(step),
    if: step.if,
    ask,
    ...rulesOf(step),
    signers: step.signers.map((signer, index) => ({
      key: keyOf(signer, index),
      person: personOf(signer),
      substitutes: (signer.substitutes ?? []).map((each) => personOf(each, signer.text)),
    })),
    askAgain: askAgain && { times: askAgain.times, everyMs: readDuration(askAgain.every) },
    remindMs: remind.map(readDuration).toSorted((one, other) => one - other),
    deadline: deadline === undefined ? usualDeadline : deadlineOf(deadline),
    escalate: escalate && { afterMs: readDuration(escalate.after), to: personOf(escalate.to) },
    ...(added !== undefined && { added }),
  };
};

/**
 * @param instance Its application and id.
 * @param at When the process begins; milliseconds since the epoch.
 */
export const planOf = (
  definition: ProcessDefinition,
  { apId, id }: { readonly apId: string; readonly id: string },
  at: number,
  addition?: DefinitionAddition,
): ProcessInput => {
  const { title, steps, compensation } = definition;
  const deadline = deadlineOf(definition.deadline);
  const added = membersOf(addition, 'definition', definition);
  return {
    apId,
    id,
    title,
    at,
    deadline: 'at' in deadline ? deadline.at : at + deadline.afterMs,
    steps: steps.map((step) => planStep(definition, step, addition)),
    compensation: compensation.map((item) =>
      'name' in item
        ? planStep(definition, item, addition, { afterMs: compensationDeadlineMs })
        : item,
    ),
    ...(!isEmpty(added) && { added }),
  };
};
