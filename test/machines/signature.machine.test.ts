import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { receipted, recordOf } from '../../machines/record.ts';
import { type SignatureContext, signatureMachine } from '../../machines/signature.machine.ts';
import type { Chosen } from '../../machines/signature-activities.ts';
import { fault } from '../../packages/protocol/src/fault.ts';
import { type Lived, liveThrough } from './life.ts';

const submittedAt = 1000;
const input = { at: submittedAt, addedAt: submittedAt, timeoutSeconds: 60 };
const outcome = { kind: 'signature', cms: 'MIIB' } as const;
const answer = { kind: 'signature', cms: 'MIIC' } as const;
const refusal = { kind: 'fault', fault: fault(402) } as const;
const screen: Chosen = { profile: 'STK-LoA4', sscdId: 'sim', screen: true };
const gateway: Chosen = { profile: 'OTP-Text', upstream: 'http://gateway.example' } as never;

type Life = Lived<SignatureContext>;
const submit = (): Life => liveThrough(signatureMachine, input, submittedAt);
const answered = (attempt: number, given: unknown = answer) => ({
  type: 'ANSWERED',
  attempt,
  answer: given,
});
const cancel = { type: 'CANCEL', attempt: 1, fault: fault(401) };
const replay = { type: 'REPLAY', input };

/** The prompt is out. */
const ask = (life: Life, chosen = screen): Life => {
  life.answer({ kind: 'ask', chosen });
  life.answer({ kind: 'awaiting' });
  return life;
};

const told = ({ context }: Life): readonly string[] =>
  context.history.map(({ state, attempt }) => `${state} ${attempt}`);

/** What one of these answers, where it runs. */
const answers =
  (by: readonly string[], output: unknown) =>
  (life: Life): void => {
    if (by.some((src) => life.runs.includes(src))) life.answer(output);
  };

/** What can happen at any time. */
const steps: Readonly<Record<string, (life: Life) => void>> = {
  'is to be asked': answers(['choose'], { kind: 'ask', chosen: screen }),
  'is to be asked by a gateway': answers(['choose'], { kind: 'ask', chosen: gateway }),
  'is awaited': answers(['choose', 'ask'], { kind: 'awaiting', chosen: screen }),
  'wants to be asked again': answers(['choose', 'ask'], {
    kind: 'awaiting',
    againAt: submittedAt + 5000,
    chosen: screen,
  }),
  'is out of reach': answers(['choose', 'ask'], { kind: 'unreachable', chosen: gateway }),
  signs: (life) => life.answer({ kind: 'signed', outcome }),
  fails: (life) => life.answer({ kind: 'failed', fault: fault(406) }),
  // What verifies is tried until it answers.
  throws: (life) => (life.runs.includes('verify') ? undefined : life.throws()),
  'is answered for': (life) => life.tell(answered(1)),
  'is answered for in the next attempt': (life) => life.tell(answered(2)),
  'is refused for': (life) => life.tell(answered(1, refusal)),
  'is cancelled': (life) => life.tell(cancel),
  'is replayed': (life) => life.tell(replay),
  'has its receipt': (life) => life.tell({ type: 'RECEIPTED', receipt: 'accepted' }),
  'lets 300 ms pass': (life) => life.pass(300),
  'lets 20 s pass': (life) => life.pass(20_000),
};

const anyOrder = fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 40 });

const run = (order: readonly string[], each: (life: Life) => void = () => undefined): Life => {
  const life = submit();
  each(life);
  for (const step of order) {
    steps[step]?.(life);
    each(life);
  }
  return life;
};

const stateOf = ({ context }: Life) => context.history.at(-1)?.state;
const leafOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : Object.entries(Object(value))
        .map(([key, inner]) => `${key}.${inner}`)
        .join();

const outcomeOf = ({ context }: Life) =>
  JSON.stringify([context.attempt, context.outcome, context.fault]);

describe('the life of a signature request', () => {
  it('reaches every state of its own chart', () => {
    const reached = new Set<string>();
    const orders = [
      ['throws', 'lets 300 ms pass', 'is to be asked', 'wants to be asked again'],
      ['is to be asked', 'is awaited', 'is answered for', 'signs', 'has its receipt'],
      ['fails'],
    ];
    for (const order of orders) run(order, ({ value }) => reached.add(leafOf(value)));
    const states = Object.values(signatureMachine.states).flatMap(({ key, states: inner }) => {
      const keys = Object.keys(inner);
      return keys.length === 0 ? [key] : keys.map((each) => `${key}.${each}`);
    });
    expect([...reached].sort()).toEqual(states.sort());
  });

  it('goes from submitted over pending to signed and receipted', () => {
    const life = ask(submit());
    expect(life.tell(answered(1))).toBe(true);
    life.answer({ kind: 'signed', outcome });
    expect(life.rests).toBe('completed');
    expect(recordOf(life.context)).toMatchObject({
      version: 1,
      state: 'signed',
      attempt: 1,
      outcome,
    });
    expect(life.tell({ type: 'RECEIPTED', receipt: 'accepted' })).toBe(true);
    expect(told(life)).toEqual(['submitted 1', 'pending 1', 'signed 1', 'receipted 1']);
    expect(recordOf(life.context)).toMatchObject({ state: 'receipted', receipt: 'accepted' });
  });

  it('tells of a robot that signs at once that it was asked', () => {
    const life = submit();
    life.answer({ kind: 'signed', outcome });
    expect(told(life)).toEqual(['submitted 1', 'pending 1', 'signed 1']);
  });

  it('tells nothing of a device that nobody could ask', () => {
    const life = submit();
    life.answer({ kind: 'failed', fault: fault(406) });
    expect(told(life)).toEqual(['submitted 1', 'failed 1']);
    expect(life.rests).toBe('failed');
  });

  it.each<[string, number, (life: Life) => void]>([
    ['the user said nothing', 208, (life) => ask(life)],
    ['nobody looked at it', 208, () => undefined],
    [
      'the gateway was out of reach',
      209,
      (life) => life.answer({ kind: 'unreachable', chosen: gateway }),
    ],
    [
      'the gateway has not answered yet',
      209,
      (life) => life.answer({ kind: 'ask', chosen: gateway }),
    ],
    ['the service was in trouble', 900, (life) => life.throws()],
  ])('ends at its deadline by what silence means: %s', (_, code, before) => {
    const life = submit();
    before(life);
    life.pass(59_999);
    expect(life.rests).toBeUndefined();
    life.pass(1);
    expect(life.rests).toBe('failed');
    expect(life.context.fault?.code).toBe(code);
  });

  it('takes trouble for over once somebody was asked', () => {
    const life = submit();
    life.throws();
    life.pass(300);
    ask(life);
    life.pass(60_000);
    expect(life.context.fault).toEqual(fault(208));
  });

  it('tries again with growing pauses, of four seconds at most', () => {
    const life = submit();
    const pauses = Array.from({ length: 8 }, () => {
      life.throws();
      for (let ms = 1; ; ms += 1) {
        life.pass(1);
        if (life.runs.length > 0 || ms > 10_000) return ms;
      }
    });
    expect(pauses).toEqual([250, 500, 1000, 2000, 4000, 4000, 4000, 4000]);
  });

  it('begins the next attempt with its own deadline when a failed one is replayed', () => {
    const life = ask(submit());
    life.pass(60_000);
    expect(life.context.fault).toEqual(fault(208));
    life.pass(9000);
    expect(life.tell(replay)).toBe(true);
    expect(life.context).toMatchObject({ attempt: 2, deadline: 130_000 });
    expect(life.context.fault).toBeUndefined();
    expect(life.context.chosen).toBeUndefined();
    expect(told(life)).toEqual(['submitted 1', 'pending 1', 'failed 1', 'submitted 2']);
    expect(life.runs).toEqual(['choose']);
    life.pass(60_000);
    expect(life.context.fault).toEqual(fault(208));
  });

  it('tells of an attempt that some tool cuts short as of an internal error', () => {
    const life = ask(submit());
    expect(life.tell(replay)).toBe(true);
    expect(told(life)).toEqual(['submitted 1', 'pending 1', 'failed 1', 'submitted 2']);
    expect(life.context.history.at(-2)?.fault).toEqual(fault(900));
  });

  it('does not replay what was signed', () => {
    const life = submit();
    life.answer({ kind: 'signed', outcome });
    const before = life.record;
    expect(life.tell(replay)).toBe(false);
    expect(life.record).toEqual(before);
  });

  it('lets an answer to an earlier attempt change nothing', () => {
    const life = ask(submit());
    life.pass(60_000);
    life.tell(replay);
    ask(life);
    const before = life.record;
    expect(life.tell(answered(1))).toBe(false);
    expect(life.tell(answered(1, refusal))).toBe(false);
    expect(life.record).toEqual(before);
  });

  it('takes no answer before the device was asked', () => {
    const life = submit();
    expect(life.tell(answered(1))).toBe(false);
    expect(life.tell(answered(1, refusal))).toBe(false);
    expect(told(life)).toEqual(['submitted 1']);
  });

  it('lets nothing come before an answer that was taken, however long its verification lasts', () => {
    const life = ask(submit());
    life.tell(answered(1));
    expect(life.tell(answered(1, refusal))).toBe(false);
    expect(life.tell(cancel)).toBe(false);
    life.pass(600_000);
    expect(life.runs).toEqual(['verify']);
    life.answer({ kind: 'signed', outcome });
    expect(stateOf(life)).toBe('signed');
  });

  it('lets an answer from elsewhere stand against that of the device that is being asked', () => {
    const life = submit();
    life.answer({ kind: 'ask', chosen: gateway });
    expect(life.runs).toEqual(['ask']);
    expect(life.tell(answered(1, refusal))).toBe(true);
    expect(life.runs).toEqual([]);
    expect(life.context.fault).toEqual(fault(402));
  });

  it('ends as an internal error when what verifies says what the chart does not know', () => {
    const life = ask(submit());
    life.tell(answered(1));
    life.answer({ kind: 'of a later release' });
    expect(life.rests).toBe('failed');
    expect(life.context.fault).toEqual(fault(900));
  });

  it('is cancelled for its own attempt alone', () => {
    const life = ask(submit());
    life.tell(cancel);
    life.tell(replay);
    expect(life.tell(cancel)).toBe(false);
    ask(life);
    expect(life.tell(cancel)).toBe(false);
    expect(life.tell({ ...cancel, attempt: 2 })).toBe(true);
  });

  it('gives the screen of each attempt back, once', () => {
    const life = ask(submit());
    life.tell(cancel);
    life.tell(replay);
    ask(life);
    life.tell(answered(2));
    life.answer({ kind: 'signed', outcome });
    expect(life.effects).toEqual(
      [1, 2].map((attempt) => ({ type: 'releaseScreen', params: { sscdId: 'sim', attempt } })),
    );
  });

  it('keeps the first outcome of an attempt for any order of events', () => {
    fc.assert(
      fc.property(anyOrder, (order) => {
        const ended = new Map<number, string>();
        run(order, (life) => {
          const { attempt } = life.context;
          const stands = ended.get(attempt);
          if (stands !== undefined) expect(outcomeOf(life)).toBe(stands);
          else if (life.rests !== undefined) ended.set(attempt, outcomeOf(life));
        });
      }),
    );
  });

  it('keeps a history that is a path of the chart for any order of events', () => {
    const follows: Readonly<Record<string, readonly string[]>> = {
      submitted: ['pending', 'failed'],
      pending: ['signed', 'failed'],
      signed: ['receipted'],
      failed: ['submitted'],
      receipted: [],
    };
    fc.assert(
      fc.property(anyOrder, (order) => {
        run(order, (life) => {
          const states = life.context.history.map(({ state }) => state);
          expect(states[0]).toBe('submitted');
          for (const [index, state] of states.slice(1).entries())
            expect(follows[states[index] ?? '']).toContain(state);
          expect(leafOf(life.value).split('.')[0]).toBe(states.at(-1));
        });
      }),
    );
  });

  it('has ended by its deadline unless an answer is being verified, for any order of events', () => {
    fc.assert(
      fc.property(anyOrder, (order) => {
        const life = run(order);
        const { answer: isAnswered, deadline, history: all } = life.context;
        life.pass(Math.max(deadline - (all[0]?.at ?? 0), 0) + 1_000_000);
        if (isAnswered === undefined)
          expect(['signed', 'failed', 'receipted']).toContain(stateOf(life));
        else expect(life.runs).toEqual(['verify']);
      }),
    );
  });

  it('is the same whether its events come in one step or in many, through storage', () => {
    fc.assert(
      fc.property(anyOrder, (order) => {
        const stored = run(order, (life) => life.store());
        expect(JSON.parse(JSON.stringify(stored.record))).toEqual(
          JSON.parse(JSON.stringify(run(order).record)),
        );
      }),
    );
  });
});

describe('the record of a signature that was returned', () => {
  const signed = () => {
    const life = submit();
    life.answer({ kind: 'signed', outcome });
    return recordOf(life.context);
  };

  it('gets its receipt, and the first one stands', () => {
    const first = receipted(signed(), 'accepted', 9000);
    expect(first).toMatchObject({ state: 'receipted', receipt: 'accepted', outcome });
    expect(first.history.at(-1)).toEqual({ state: 'receipted', attempt: 1, at: 9000 });
    expect(receipted(first, 'cancelled', 10_000)).toEqual(first);
  });

  it('has the members that others rely on, and no other', () => {
    expect(Object.keys(signed()).sort()).toEqual([
      'attempt',
      'deadline',
      'history',
      'outcome',
      'state',
      'version',
    ]);
  });
});
