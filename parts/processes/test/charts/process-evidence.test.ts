/** Processes with their evidence, and those whose evidence cannot be made. */
import { expect, it } from 'vitest';
import { reportOf } from '../../charts/process-report.ts';
import { type Family, rootId } from './family.ts';
import { attest, begin, fail, promptOf, sign, step, told } from './people.ts';

const minute = 60_000;
const cancel = { type: 'CANCEL', by: 'operator' };

/** Five minutes of tries. */
const fruitless = (family: Family): void => {
  for (let round = 0; round < 31; round += 1) {
    expect(family.value).toBe('attesting');
    for (const each of family.attests()) family.throws(each);
    if (round === 3) expect(family.tell(rootId, cancel)).toBe(false);
    if (round < 30) family.pass(10_000);
  }
};

it('keep what the evidence needs of each signature until it is made, and not longer', () => {
  const family = begin([step('one', ['Anna'])]);
  const signed = {
    kind: 'signed',
    msspTransId: 'H-1',
    at: family.now(),
    attempt: 1,
    proof: { cms: 'AAAA' },
  };
  family.answer(promptOf(family, 'Anna'), signed as never);
  for (const each of family.attests()) family.throws(each);
  expect(reportOf(family.context).signatures).toMatchObject([
    { msspTransId: 'H-1', proof: { cms: 'AAAA' } },
  ]);
  family.pass(10_000);
  attest(family);
  expect(family.context.evidence).toBe('a.b.c');
  expect(family.context.progress[0]?.branches).toMatchObject([
    { state: 'signed', msspTransId: 'H-1' },
  ]);
  expect(JSON.stringify(family.context)).not.toContain('AAAA');
});

it('rest, and CANCEL ends them without it, as what they would have been', () => {
  const completed = begin([step('one', ['Anna'])]);
  sign(completed, 'Anna');
  fruitless(completed);
  expect(completed.value).toBe('unattested');
  expect(completed.tell(rootId, cancel)).toBe(true);
  expect([completed.isOver(), completed.value]).toEqual([true, 'completed']);
  expect(told(completed).at(-1)).toBe('notifyProcess end completed');

  const refused = begin([step('one', ['Anna'])]);
  fail(refused, 'Anna', 401);
  fruitless(refused);
  refused.tell(rootId, cancel);
  expect([refused.isOver(), refused.value]).toEqual([true, 'failed']);
  expect(refused.context.failure?.reason).toBe('REFUSED');
});

it('try it each hour, and end with it', () => {
  const family = begin([step('one', ['Anna'])]);
  sign(family, 'Anna');
  fruitless(family);
  family.pass(60 * minute);
  for (const each of family.attests()) family.throws(each);
  expect(family.value).toBe('unattested');
  family.pass(60 * minute);
  attest(family);
  expect(family.output).toMatchObject({ outcome: 'completed' });
  expect(family.context.evidence).toBe('a.b.c');
});
