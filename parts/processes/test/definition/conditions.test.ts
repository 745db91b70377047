import { expect, it } from 'vitest';
import { checkDefinition } from '../../definition/check-definition.ts';

const verdict = (input: unknown): string => {
  const checked = checkDefinition(input, { now: Date.UTC(2026, 0, 5, 9), isKnown: () => true });
  return checked.ok ? 'usable' : checked.problem;
};
const stepOf = (name: string, number: number) => ({
  name,
  signers: [{ name: 'Anna', msisdn: `+4179000000${number}` }],
});

it('takes conditions of a compensation that hold when a step has failed or has not begun', () => {
  const withUndo = (condition: object) => ({
    text: 'I',
    steps: [stepOf('one', 1), stepOf('two', 2)],
    compensation: [{ ...stepOf('undo', 3), if: condition }],
  });
  for (const condition of [
    { not: { step: 'one', is: 'done' } },
    { step: 'one', signer: '1', signed: false },
    { all: [{ step: 'one', signer: '1' }, { not: { step: 'two', is: 'done' } }] },
  ])
    expect(verdict(withUndo(condition))).toBe('usable');
  expect(verdict(withUndo({ step: 'two', is: 'skipped' }))).toBe(
    'compensation[0].if must be able to hold: the step would never begin',
  );
});
