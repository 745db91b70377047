/** Processes and what happens in them, in the words of a test. */
import type { AnyEventObject } from 'xstate';
import type { ProcessInput } from '../../charts/process.machine.ts';
import type { PlanStep } from '../../charts/process-plan.ts';
import { publishProcess } from '../../charts/process-report.ts';
import { createFamily, type Family, failed, signed } from './family.ts';

export const start = Date.UTC(2026, 0, 5, 9);
export const hour = 3_600_000;
export const day = 24 * hour;

export const person = (name: string) => ({
  name,
  msisdn: `+4179${name.length}`,
  text: `Contract for ${name}`,
});

export const step = (
  name: string,
  names: readonly string[],
  more: Partial<PlanStep> = {},
): PlanStep => ({
  name,
  signers: names.map((each, index) => ({
    key: String(index + 1),
    person: person(each),
    substitutes: [],
  })),
  need: names.length,
  ask: 'now',
  remindMs: [],
  onRefusal: 'fail',
  onUnreached: 'wait',
  onDeadline: 'fail',
  ...more,
});

export const begin = (steps: readonly PlanStep[], more: Partial<ProcessInput> = {}): Family => {
  const family = createFamily(
    {
      apId: 'http://ap',
      id: 'p',
      deadline: start + 30 * day,
      steps,
      compensation: [],
      at: start,
      ...more,
    },
    start,
  );
  family.pass(0);
  return family;
};

/** Names of the persons whose phones show a prompt. */
export const asked = (family: Family) =>
  family.prompts().map(({ input }) => input.text.replace('Contract for ', ''));

export const promptOf = (family: Family, name: string) => {
  const found = family.prompts().find(({ input }) => input.text === `Contract for ${name}`);
  if (found === undefined) throw new Error(`${name} is not asked`);
  return found;
};

export const sign = (family: Family, name: string): void => {
  family.answer(promptOf(family, name), signed(family.now()));
  family.pass(0);
};
export const fail = (family: Family, name: string, code: number): void => {
  family.answer(promptOf(family, name), failed(code));
  family.pass(0);
};
export const attest = (family: Family): void => {
  for (const each of family.attests()) family.answer(each, 'a.b.c');
};
/** The end of the process. */
export const end = (family: Family) => {
  attest(family);
  return [family.value, family.context.failure?.reason];
};
/** What the application and people were told. */
export const told = (family: Family) =>
  family.effects.map(({ type, params }) => {
    const { what, url, state } = params as { what?: string; url?: string; state?: string };
    return [type, what ?? url, state].filter(Boolean).join(' ');
  });
export const withSubstitutes = (
  name: string,
  names: readonly string[],
  substitutes: readonly string[],
  more: Partial<PlanStep> = {},
) => {
  const made = step(name, names, { onRefusal: 'substitute', onUnreached: 'substitute', ...more });
  return {
    ...made,
    signers: made.signers.map((each, index) =>
      index === 0 ? { ...each, substitutes: substitutes.map(person) } : each,
    ),
  };
};
export const send = (family: Family, child: string, event: AnyEventObject): boolean => {
  const isTaken = family.tell(family.idOf(child), event);
  family.pass(0);
  return isTaken;
};
export const states = (family: Family) =>
  publishProcess(family.context).steps.map(({ state, signers }) => [
    state,
    ...signers.map((each) => each.state),
  ]);
