/**
 * A walk through a chart: events that it names, in an order by a seed, with fields that its source
 * reads. Between them some time passes.
 */
import type { AnyStateMachine } from 'xstate';
import type { ReplayStep } from './replay.ts';

const steps = 40;

const values: readonly unknown[] = [
  '7',
  3,
  '',
  'text',
  0,
  { id: '1', title: 'a', index: 1, x: 0, y: 1 },
];

/** The fields that the expressions of a chart read from an event or from the input. */
const fieldsOf = (machine: AnyStateMachine, of: 'event' | 'input'): readonly string[] => {
  const read = new RegExp(`\\b${of}\\.(\\w+)`, 'g');
  const found = new Set<string>();
  const seen = new Set<unknown>();
  const look = (value: unknown): void => {
    if (
      (typeof value !== 'object' && typeof value !== 'function') ||
      value === null ||
      seen.has(value)
    )
      return;
    seen.add(value);
    if (typeof value === 'function')
      for (const [, name = ''] of String(value).matchAll(read)) found.add(name);
    for (const each of Object.values(value)) look(each);
  };
  look(machine.config);
  look(machine.implementations);
  return [...found].filter((name) => name !== 'type').toSorted();
};

const random = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (state * 16_807) % 2_147_483_647;
    return state % below;
  };
};

/** An input with which the chart can be started. */
export const inputOf = (machine: AnyStateMachine): unknown =>
  Object.fromEntries(
    fieldsOf(machine, 'input').map((name, index) => [name, values[(index + 5) % values.length]]),
  );

export const walkOf = (machine: AnyStateMachine, seed: number): readonly ReplayStep[] => {
  const below = random(seed);
  const fields = fieldsOf(machine, 'event');
  const types = machine.events.filter((type) => !type.startsWith('xstate.') && !type.includes('*'));
  if (types.length === 0) return [{ afterMs: 40_000, event: undefined }];
  return Array.from({ length: steps }, () => {
    const given = Object.fromEntries(fields.map((name) => [name, values[below(values.length)]]));
    const event = { type: types[below(types.length)] ?? '', ...given };
    return { afterMs: [1, 1, 1, 300, 2500][below(5)] ?? 1, event };
  });
};
