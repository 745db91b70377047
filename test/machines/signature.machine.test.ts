import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { advance, begin, type SignatureRecord } from '../../machines/record.ts';
import {
  type SignatureEvent,
  type SignatureState,
  signatureMachine,
} from '../../machines/signature.machine.ts';
import { fault } from '../../src/protocol/fault.ts';

const input = { submittedAt: 1_000, timeoutSeconds: 60 };
const outcome = { kind: 'signature', cms: 'MIIB' } as const;

/** One event of each kind, all for the first attempt. */
const events: readonly SignatureEvent[] = [
  { type: 'PROMPT', at: 2_000 },
  { type: 'SIGNED', at: 3_000, attempt: 1, outcome },
  { type: 'FAULTED', at: 3_000, attempt: 1, fault: fault(401) },
  { type: 'EXPIRED', at: 61_000, attempt: 1 },
  { type: 'REPLAY', at: 70_000, deadline: 130_000 },
  { type: 'RECEIPTED', at: 80_000, receipt: 'accepted' },
];

/** Which states may follow which: read off the machine itself. */
const successors = new Map<string, Set<string>>(
  Object.values(signatureMachine.states).map((state) => [
    state.key,
    new Set(
      [...state.transitions.values()].flat().flatMap(({ target }) => (target ?? []).map(({ key }) => key)),
    ),
  ]),
);

const isPathOfTheMachine = ({ history }: SignatureRecord): boolean =>
  history[0]?.state === 'submitted' &&
  history.every(({ state }, index) => {
    const next = history[index + 1];
    return next === undefined || successors.get(state)?.has(next.state) === true;
  });

const anyEvent: fc.Arbitrary<SignatureEvent> = fc
  .record({ at: fc.integer({ min: 1_000, max: 1_000_000 }), attempt: fc.integer({ min: 1, max: 4 }) })
  .chain(({ at, attempt }) =>
    fc.constantFrom<SignatureEvent>(
      { type: 'PROMPT', at },
      { type: 'SIGNED', at, attempt, outcome: { kind: 'signature', cms: `CMS ${at}` } },
      { type: 'FAULTED', at, attempt, fault: fault(401) },
      { type: 'EXPIRED', at, attempt },
      { type: 'REPLAY', at, deadline: at + 60_000 },
      { type: 'RECEIPTED', at, receipt: 'accepted' },
    ),
  );

const outcomeOf = ({ state, attempt, outcome: signed, fault: failed }: SignatureRecord) =>
  JSON.stringify({ attempt, signed, failed, ended: state !== 'submitted' && state !== 'pending' });

describe('the life of a signature request', () => {
  it('reaches every state of its own graph', () => {
    const reached = new Set(
      getShortestPaths(signatureMachine, { input, events: [...events] }).map(({ state }) =>
        String(state.value),
      ),
    );
    expect([...reached].sort()).toEqual(Object.keys(signatureMachine.states).sort());
  });

  it('goes from submitted over pending to signed and receipted', () => {
    const states: SignatureState[] = [];
    let record = begin(input);
    states.push(record.state);
    for (const event of [events[0], events[1], events[5]]) {
      if (event !== undefined) record = advance(record, event);
      states.push(record.state);
    }
    expect(states).toEqual(['submitted', 'pending', 'signed', 'receipted']);
    expect(record).toMatchObject({ outcome, receipt: 'accepted', attempt: 1 });
  });

  it('sets the deadline from the time of submission and TimeOut', () => {
    expect(begin(input).deadline).toBe(61_000);
  });

  it('begins where the machine itself begins', () => {
    const { value, context } = createActor(signatureMachine, { input }).getSnapshot();
    expect({ version: 1, state: value, ...context }).toEqual({
      outcome: undefined,
      fault: undefined,
      receipt: undefined,
      ...begin(input),
    });
  });

  it('begins the next attempt with its own deadline when a failed one is replayed', () => {
    const failed = begin(input, { type: 'PROMPT', at: 2_000 }, { type: 'EXPIRED', at: 61_000, attempt: 1 });
    expect(failed).toMatchObject({ state: 'failed', fault: fault(208) });
    const replayed = advance(failed, { type: 'REPLAY', at: 70_000, deadline: 130_000 });
    expect(replayed).toMatchObject({ state: 'submitted', attempt: 2, deadline: 130_000 });
    expect(replayed.fault).toBeUndefined();
    expect(replayed.history.map(({ state, attempt }) => `${state} ${attempt}`)).toEqual([
      'submitted 1',
      'pending 1',
      'failed 1',
      'submitted 2',
    ]);
  });

  it('does not replay what was signed', () => {
    const signed = begin(input, ...events.slice(0, 2));
    expect(advance(signed, { type: 'REPLAY', at: 70_000, deadline: 130_000 })).toEqual(signed);
  });

  it('lets an answer to an earlier attempt change nothing', () => {
    const second = begin(
      input,
      { type: 'PROMPT', at: 2_000 },
      { type: 'EXPIRED', at: 61_000, attempt: 1 },
      { type: 'REPLAY', at: 70_000, deadline: 130_000 },
      { type: 'PROMPT', at: 71_000 },
    );
    expect(advance(second, { type: 'SIGNED', at: 72_000, attempt: 1, outcome })).toEqual(second);
  });

  it('signs nothing before the device was asked', () => {
    const record = begin(input);
    expect(advance(record, { type: 'SIGNED', at: 3_000, attempt: 1, outcome })).toEqual(record);
  });

  it('keeps the first outcome of an attempt for any order of events', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), (order) => {
        let record = begin(input);
        const ended = new Map<number, string>();
        for (const event of order) {
          record = advance(record, event);
          const stands = ended.get(record.attempt);
          if (stands !== undefined) expect(outcomeOf(record)).toBe(stands);
          else if (record.state !== 'submitted' && record.state !== 'pending') {
            ended.set(record.attempt, outcomeOf(record));
          }
        }
      }),
    );
  });

  it('keeps a history that is a path of the machine for any order of events', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), (order) => {
        const record = begin(input, ...order);
        expect(isPathOfTheMachine(record)).toBe(true);
        expect(record.history.at(-1)?.state).toBe(record.state);
      }),
    );
  });

  it('is the same whether its events come in one step or in many, through storage', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 20 }), (order) => {
        let stepwise = begin(input);
        for (const event of order) stepwise = advance(JSON.parse(JSON.stringify(stepwise)), event);
        expect(stepwise).toEqual(begin(input, ...order));
      }),
    );
  });

  it('refuses a record of a machine that is not known', () => {
    const record = { ...begin(input), version: 99 } as unknown as SignatureRecord;
    expect(() => advance(record, { type: 'PROMPT', at: 2_000 })).toThrow('version 99');
  });
});
