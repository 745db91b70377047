import { expect, it } from 'vitest';
import type { ProcessInput } from '../../machines/process.machine.ts';
import type { PlanStep } from '../../machines/process-plan.ts';
import { publishProcess } from '../../machines/process-report.ts';
import { createFamily, type Family, failed, signed } from './family.ts';

const start = Date.UTC(2026, 0, 5, 9);
const hour = 3_600_000;
const day = 24 * hour;

const person = (name: string) => ({ name, msisdn: `+4179${name.length}`, text: `Contract for ${name}` });

const step = (name: string, names: readonly string[], more: Partial<PlanStep> = {}): PlanStep => ({
  name,
  signers: names.map((each, index) => ({ key: String(index + 1), person: person(each), substitutes: [] })),
  need: names.length,
  ask: 'now',
  remindMs: [],
  onRefusal: 'fail',
  onUnreached: 'wait',
  onDeadline: 'fail',
  ...more,
});

const begin = (steps: readonly PlanStep[], more: Partial<ProcessInput> = {}): Family => {
  const family = createFamily(
    { apId: 'http://ap', id: 'p', deadline: start + 30 * day, steps, compensation: [], at: start, ...more },
    start,
  );
  family.pass(0);
  return family;
};

/** Names of the persons whose phones show a prompt. */
const asked = (family: Family) =>
  family.prompts().map(({ input }) => input.text.replace('Contract for ', ''));

const promptOf = (family: Family, name: string) => {
  const found = family.prompts().find(({ input }) => input.text === `Contract for ${name}`);
  if (found === undefined) throw new Error(`${name} is not asked`);
  return found;
};

const sign = (family: Family, name: string): void => {
  family.answer(promptOf(family, name), signed(family.now()));
  family.pass(0);
};
const fail = (family: Family, name: string, code: number): void => {
  family.answer(promptOf(family, name), failed(code));
  family.pass(0);
};
const attest = (family: Family): void => {
  for (const each of family.attests()) family.answer(each, 'a.b.c');
};
const states = (family: Family) =>
  publishProcess(family.context).steps.map(({ state, signers }) => [
    state,
    ...signers.map((each) => each.state),
  ]);

it('asks all signers of a step, and those of the next step only then', () => {
  const family = begin([step('one', ['Anna', 'Beat']), step('two', ['Chris'])]);
  expect(asked(family)).toEqual(['Anna', 'Beat']);
  sign(family, 'Anna');
  expect(asked(family)).toEqual(['Beat']);
  sign(family, 'Beat');
  expect(asked(family)).toEqual(['Chris']);
  sign(family, 'Chris');
  expect(family.value).toBe('attesting');
  attest(family);
  expect(family.output).toMatchObject({ outcome: 'completed', evidence: 'a.b.c' });
  expect(states(family)).toEqual([
    ['done', 'signed', 'signed'],
    ['done', 'signed'],
  ]);
});

it('withdraws the prompts of the others when enough have signed, and goes on', () => {
  const family = begin([step('one', ['Anna', 'Beat', 'Chris'], { need: 2 }), step('two', ['Dora'])]);
  sign(family, 'Chris');
  sign(family, 'Anna');
  expect(asked(family)).toEqual(['Dora']);
  expect(states(family)[0]).toEqual(['done', 'signed', 'withdrawn', 'signed']);
});

it('fails by a refusal, and withdraws the others', () => {
  const family = begin([step('one', ['Anna', 'Beat']), step('two', ['Chris'])]);
  fail(family, 'Anna', 401);
  attest(family);
  expect(family.value).toBe('failed');
  expect(family.context.failure).toMatchObject({ reason: 'REFUSED', step: 'one' });
  expect(states(family)).toEqual([
    ['failed', 'refused', 'withdrawn'],
    ['waiting', 'waiting'],
  ]);
});
