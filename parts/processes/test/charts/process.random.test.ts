/**
 * Processes of random shape under random events. The checker knows the definition and what was seen
 * from outside, and nothing of how the chart decides.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stepProblems } from '../../../../test/support/process-rules.ts';
import type { Condition, PlanStep } from '../../charts/process-plan.ts';
import { publishProcess } from '../../charts/process-report.ts';
import { maxAsks } from '../../charts/signer.machine.ts';
import { createFamily, type Family, failed, rootId, signed } from './family.ts';

const start = Date.UTC(2026, 0, 5, 9);
const minute = 60_000;
const day = 1440 * minute;

const person = (name: string) => ({ name, msisdn: '+41790000001', text: name });
const hours = {
  from: '08:00',
  to: '18:00',
  timeZone: 'Europe/Zurich',
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
} as const;

const stepArbitrary = (index: number, prefix: string): fc.Arbitrary<PlanStep> =>
  fc
    .record({
      count: fc.integer({ min: 1, max: 4 }),
      need: fc.integer({ min: 1, max: 4 }),
      substitutes: fc.integer({ min: 0, max: 2 }),
      ask: fc.constantFrom('now' as const, 'now' as const, 'page' as const, hours),
      askAgain: fc.constantFrom(undefined, { times: 2, everyMs: 240 * minute }),
      remindMs: fc.constantFrom([], [day, 2 * day]),
      deadline: fc.constantFrom(undefined, { afterMs: 3 * day }, { at: start + 5 * day }),
      escalates: fc.boolean(),
      onRefusal: fc.constantFrom('fail' as const, 'continue' as const, 'substitute' as const),
      onUnreached: fc.constantFrom(
        'wait' as const,
        'fail' as const,
        'continue' as const,
        'substitute' as const,
      ),
      onDeadline: fc.constantFrom('fail' as const, 'continue' as const),
      on: fc.integer({ min: 0, max: 9 }),
      is: fc.constantFrom('done' as const, 'unmet' as const, 'skipped' as const),
      negated: fc.boolean(),
    })
    .map(({ count, need, substitutes, escalates, on, is, negated, ...rules }): PlanStep => {
      const name = `${prefix}${index}`;
      const fact: Condition =
        on % 2 === 0
          ? { step: `s${on % index || 0}`, is }
          : { step: `s${on % index || 0}`, signer: '1', signed: true };
      return {
        name,
        need: Math.min(need, count),
        ...rules,
        signers: Array.from({ length: count }, (_, place) => ({
          key: String(place + 1),
          person: person(`${name}/${place + 1}/0`),
          substitutes: Array.from({ length: substitutes }, (_, at) =>
            person(`${name}/${place + 1}/${at + 1}`),
          ),
        })),
        if: index > 0 && on < 6 ? (negated ? { not: fact } : fact) : undefined,
        escalate: escalates ? { afterMs: day, to: person(`${name}/escalated/0`) } : undefined,
      };
    });

const planArbitrary = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.boolean())
  .chain(([count, compensates]) =>
    fc.record({
      steps: fc.tuple(...Array.from({ length: count }, (_, index) => stepArbitrary(index, 's'))),
      compensation: compensates
        ? fc
            .tuple(stepArbitrary(0, 'c'))
            .map(([step]) => [
              { tell: 'https://app/' },
              { ...step, deadline: { afterMs: 2 * day } },
            ])
        : fc.constant([]),
    }),
  );

/** What happens next, and where: numbers choose among what there is. */
const happeningArbitrary = fc.record({
  kind: fc.constantFrom(
    'sign',
    'sign',
    'sign',
    'sign',
    'refuse',
    'fail',
    'limit',
    'press',
    'decline',
    'again',
    'cancel',
    'time',
    'time',
    'link',
    'haste',
  ),
  which: fc.nat(20),
  ms: fc.constantFrom(0, minute, 60 * minute, 240 * minute, day),
});
type Happening = typeof happeningArbitrary extends fc.Arbitrary<infer T> ? T : never;

const pick = <T>(all: readonly T[], which: number): T | undefined =>
  all[which % Math.max(all.length, 1)];

/** A prompt expires, and the person presses Sign at once. */
const pressAtOnce = (
  family: Family,
  prompt: ReturnType<Family['prompts']>[number],
  pressed: Set<string>,
) => {
  family.answer(prompt, failed(208));
  pressed.add(`${prompt.id}@${family.now()}`);
  family.tell(prompt.id, { type: 'SIGN' });
};

const happen = (
  family: Family,
  { kind, which, ms }: Happening,
  steps: readonly PlanStep[],
  notes: { pressed: Set<string>; cancelled: number },
) => {
  const prompt = pick(family.prompts(), which);
  const signer = pick(family.live(), which);
  const at = family.now();
  if (kind === 'time') family.pass(ms);
  else if (kind === 'cancel') {
    if (which === 0)
      notes.cancelled += Number(family.tell(rootId, { type: 'CANCEL', by: 'application' }));
  } else if (kind === 'again') {
    const step = pick(steps, which);
    family.tell(rootId, { type: 'AGAIN', step: step?.name, key: String((ms % 3) + 1) });
  } else if (kind === 'press' && signer !== undefined) {
    notes.pressed.add(`${signer}@${at}`);
    family.tell(signer, { type: 'SIGN' });
  } else if (kind === 'link' && signer !== undefined) family.tell(signer, { type: 'REVOKE_LINK' });
  else if (kind === 'decline' && signer !== undefined && which < 4)
    family.tell(signer, { type: 'DECLINE' });
  else if (prompt === undefined) return;
  else if (kind === 'sign') family.answer(prompt, signed(at));
  else if (kind === 'haste') pressAtOnce(family, prompt, notes.pressed);
  else if (kind === 'refuse') family.answer(prompt, failed(401));
  else if (kind === 'fail') family.answer(prompt, failed(pick([208, 209, 402, 406], which) ?? 208));
  else if (kind === 'limit') family.answer(prompt, { kind: 'limited', until: at + ms });
  family.pass(0);
};

const indexOf = (id: string): number => Number(id.split('/')[1]?.split('-')[0]);

const checkEnd = (family: Family, plan: readonly PlanStep[], compensates: boolean) => {
  const { failure } = family.context;
  const { steps } = publishProcess(family.context);
  const last = { value: family.value, failure: failure?.reason };
  expect(family.isOver(), JSON.stringify(last)).toBe(true);
  expect(family.live()).toEqual([]);
  expect(
    family.effects.filter(({ params }) => (params as { what?: string }).what === 'end'),
  ).toHaveLength(1);
  expect(last.value).toBe(
    failure === undefined ? 'completed' : failure.reason === 'CANCELLED' ? 'cancelled' : 'failed',
  );

  expect([...stepProblems(plan, compensates, { steps, failure })]).toEqual([]);
  plan.forEach((_, index) => {
    const { state } = steps[index] ?? {};
    if (state === 'waiting' || state === 'skipped')
      expect(family.started.some((id) => indexOf(id) === index)).toBe(false);
  });
};

const checkPrompts = (family: Family, plan: readonly PlanStep[], pressed: ReadonlySet<string>) => {
  const counts = new Map<string, number>();
  for (const { at, id, live } of family.prompted) {
    // Nobody is asked out of turn: all who are open belong to one step.
    expect(new Set(live.map(indexOf))).toEqual(new Set([indexOf(id)]));
    counts.set(id, (counts.get(id) ?? 0) + 1);
    const ask = plan[indexOf(id)]?.ask;
    const isPressed = pressed.has(`${id}@${at}`);
    const count = counts.get(id) ?? 0;
    if (ask === 'page' && count === 1) expect(isPressed).toBe(true);
    if (typeof ask !== 'object' || isPressed) continue;
    const text = new Date(at).toLocaleString('sv-SE', { timeZone: ask.timeZone });
    const weekday = new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDay();
    expect([weekday % 6 !== 0, text.slice(11) >= '08:00:00', text.slice(11) < '18:00:00']).toEqual([
      true,
      true,
      true,
    ]);
  }
  // Nobody is asked twice for what they have signed: one person, one instance, unless it never
  // began.
  const people = family.started.map((id) => id.split('/')[1]);
  expect(new Set(people).size).toBe(people.length);
};

it('nobody is asked out of turn, everybody asked ends, and there is one outcome', {
  timeout: 60_000,
}, () => {
  fc.assert(
    fc.property(
      planArbitrary,
      fc.array(happeningArbitrary, { maxLength: 60 }),
      ({ steps, compensation }, happenings) => {
        const deadline = start + 10 * day;
        const family = createFamily(
          { apId: 'ap', id: 'p', deadline, steps, compensation, at: start },
          start,
        );
        family.pass(0);
        const notes = { pressed: new Set<string>(), cancelled: 0 };
        for (const happening of happenings) {
          happen(family, happening, steps, notes);
          if (family.attests().length > 0) break;
        }
        expect(notes.cancelled).toBeLessThanOrEqual(1);
        // AGAIN, and prompts for which only a person would come, are over with the deadline.
        family.pass(40 * day);
        for (const each of family.attests()) family.answer(each, 'a.b.c');
        checkEnd(family, steps, compensation.length > 0);
        checkPrompts(family, steps, notes.pressed);
        for (const id of family.started)
          expect(family.contextOf(id).asks.length).toBeLessThanOrEqual(maxAsks);
      },
    ),
    { numRuns: 100, seed: 20_260_105 },
  );
});
