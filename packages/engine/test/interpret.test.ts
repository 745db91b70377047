/**
 * What the engine computes is what XState's own interpreter does: the same charts, the same events
 * at the same times, compared after each of them. The engine's instance is stored as JSON and taken
 * up again between any two.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AnyStateMachine,
  and,
  assign,
  cancel,
  createActor,
  enqueueActions,
  fromCallback,
  fromPromise,
  not,
  raise,
  SimulatedClock,
  sendTo,
  setup,
  spawnChild,
  stopChild,
} from 'xstate';
import { ChartError, createChart } from '../src/chart.ts';
import { begin, type Life, resume } from '../src/interpret.ts';
import { errorText } from '../src/journal.ts';
import type { InstanceRecord } from '../src/record.ts';

const counting = setup({
  types: { context: {} as { n: number; trail: string[] } },
  actions: {
    count: assign({ n: ({ context }) => context.n + 1 }),
    trail: assign({ trail: ({ context }, { at }: { at: string }) => [...context.trail, at] }),
  },
  guards: { many: ({ context }) => context.n > 3 },
  delays: { growing: ({ context }) => 100 + context.n * 10 },
}).createMachine({
  id: 'counting',
  context: { n: 0, trail: [] },
  initial: 'off',
  on: { RESET: { target: '.off', actions: assign({ n: 0 }) }, NOTHING: undefined as never },
  states: {
    off: {
      entry: 'count',
      exit: { type: 'trail', params: { at: 'left off' } },
      on: { GO: 'on', LATER: { actions: raise({ type: 'GO' }, { delay: 250, id: 'later' }) } },
      after: { growing: 'on' },
    },
    on: {
      type: 'parallel',
      on: { GO: 'off', BACK: 'off' },
      states: {
        left: {
          initial: 'a',
          states: {
            a: { on: { STEP: 'b' }, after: { 90: 'b' } },
            b: {
              always: { guard: 'many', target: 'c' },
              on: { STEP: { target: 'a', actions: 'count' } },
            },
            c: { type: 'final', entry: { type: 'trail', params: { at: 'c' } } },
          },
        },
        right: {
          initial: 'x',
          states: {
            x: {
              on: { STEP: { target: 'deep', guard: ({ context }) => context.n % 2 === 0 } },
              entry: raise({ type: 'TICK' }, { delay: 40, id: 'tick' }),
              exit: cancel('tick'),
            },
            deep: {
              initial: 'p',
              states: {
                p: { on: { STEP: 'q' } },
                q: {},
                memory: { type: 'history', history: 'shallow' },
              },
              on: { TICK: 'y' },
            },
            y: { on: { BACK: 'deep.memory' } },
            z: { type: 'final' },
          },
          on: { TICK: { actions: 'count' }, FINISH: '.z' },
        },
      },
      onDone: 'resting',
    },
    resting: {
      entry: [raise({ type: 'BOUNCE' }), sendTo(({ self }) => self, { type: 'ECHO' })],
      on: {
        BOUNCE: { actions: { type: 'trail', params: { at: 'bounce' } } },
        ECHO: {
          actions: enqueueActions(({ enqueue, check }) => {
            enqueue('count');
            if (check('many')) enqueue.raise({ type: 'RESET' });
          }),
        },
        END: 'ended',
      },
    },
    ended: { type: 'final', output: ({ context }) => context.n },
  },
  output: ({ event }) => (event as unknown as { output: number }).output,
});

const events = [
  'GO',
  'LATER',
  'STEP',
  'TICK',
  'BACK',
  'RESET',
  'FINISH',
  'END',
  'BOUNCE',
  'ECHO',
  'NOTHING',
  'UNKNOWN',
];

const stored = (machine: ReturnType<typeof createChart>, life: Life): Life =>
  resume(machine, 'I-1', JSON.parse(JSON.stringify(life.record())));

describe('the interpreter', () => {
  it('does what XState does, over any events and times, through any number of restarts', () => {
    const chart = createChart({ name: 'counting', version: 1, machine: counting, observed: [] });
    const step = fc.record({
      event: fc.constantFrom(...events),
      ms: fc.integer({ min: 0, max: 130 }),
      restart: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const clock = new SimulatedClock();
        const actor = createActor(counting, { clock }).start();
        let time = 0;
        let life = begin(chart, 'I-1', undefined, time);
        for (const { event, ms, restart } of steps) {
          // One millisecond at a time: XState counts delays from where its clock stands.
          for (let passed = 0; passed < ms; passed += 1) {
            time += 1;
            clock.set(time);
            for (;;) {
              const timer = life.takeDue(time, time);
              if (timer === undefined) break;
              life.fire(timer, time);
            }
          }
          if (restart) life = stored(chart, life);
          const before = actor.getSnapshot();
          actor.send({ type: event } as never);
          const taken = life.apply({ type: event }, time);
          const after = actor.getSnapshot();
          const record = life.record();
          expect([record.value, record.context, record.status, record.output]).toEqual([
            after.value,
            after.context,
            after.status,
            after.output,
          ]);
          if (before.status === 'active' && before !== after) expect(taken).toBe(true);
        }
        actor.stop();
      }),
      { numRuns: 300 },
    );
  });
});

const busy = setup({
  types: { context: {} as { n: number } },
  actors: {
    ask: fromPromise<never, unknown>(() => new Promise(() => undefined)),
    talk: setup({}).createMachine({ initial: 'open', states: { open: {} } }),
  },
  actions: { count: assign({ n: ({ context }) => context.n + 1 }) },
  guards: { even: ({ context }) => context.n % 2 === 0 },
}).createMachine({
  id: 'busy',
  context: { n: 0 },
  invoke: { id: 'root', src: 'ask' },
  initial: 'asking',
  on: { ASK: '.asking', TALK: '.talking', BOTH: '.both', LEAVE: '.passing', BACK: '.both.memory' },
  states: {
    asking: {
      entry: ['count', sendTo('work', { type: 'HELLO' } as never)],
      invoke: {
        id: 'work',
        src: 'ask',
        input: ({ context }: { context: { n: number } }) => context.n,
      },
      on: {
        AGAIN: { target: 'asking', reenter: true },
        STOP: { actions: stopChild('work') },
        SPAWN: { actions: spawnChild('ask', { id: 'work' }) },
      },
    },
    talking: {
      invoke: { id: 'work', src: 'talk' },
      on: { AGAIN: { target: 'talking', reenter: true }, STOP: { actions: stopChild('work') } },
    },
    passing: {
      entry: 'count',
      invoke: [
        { id: 'work', src: 'ask' },
        { id: 'other', src: 'talk' },
      ],
      always: [{ guard: 'even', target: 'talking' }, { target: 'stopping' }],
    },
    stopping: {
      entry: raise({ type: 'HALT' }),
      invoke: { id: 'work', src: 'ask' },
      on: { HALT: { actions: stopChild('work') } },
    },
    both: {
      type: 'parallel',
      states: {
        left: {
          initial: 'a',
          states: {
            a: { invoke: { id: 'work', src: 'ask' }, on: { AGAIN: 'b' } },
            b: { entry: spawnChild('talk', { id: 'work' }), on: { AGAIN: 'a' } },
          },
        },
        right: {
          initial: 'x',
          invoke: [
            { id: 'one', src: 'ask' },
            { id: 'two', src: 'talk' },
          ],
          states: { x: { on: { AGAIN: 'y' } }, y: { invoke: { id: 'inner', src: 'ask' } } },
        },
        memory: { type: 'history', history: 'deep' },
      },
    },
  },
});

const runOf = (life: Life, child: string): number | undefined =>
  life.record().children?.[child]?.run;

describe('the children of an instance', () => {
  it('are those that XState has, activities and charts alike, over any events and restarts', () => {
    const chart = createChart({ name: 'busy', version: 1, machine: busy, observed: [] });
    const types = ['ASK', 'TALK', 'BOTH', 'LEAVE', 'BACK', 'AGAIN', 'STOP', 'SPAWN'];
    const step = fc.record({ event: fc.constantFrom(...types), restart: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 15 }), (steps) => {
        const actor = createActor(busy).start();
        let life = begin(chart, 'I-1', undefined, 0);
        for (const { event, restart } of steps) {
          if (restart) life = stored(chart, life);
          const before = Object.entries(actor.getSnapshot().children);
          const runs = Object.fromEntries(before.map(([id]) => [id, runOf(life, id)]));
          actor.send({ type: event } as never);
          life.apply({ type: event }, 0);
          const { value, children } = actor.getSnapshot();
          expect(life.record().value).toEqual(value);
          const srcs = Object.entries(children).map(([id, ref]) => [
            id,
            (ref as { src?: unknown }).src,
          ]);
          const ours = Object.entries(life.record().children ?? {});
          expect(Object.fromEntries(ours.map(([id, { src }]) => [id, src]))).toEqual(
            Object.fromEntries(srcs),
          );
          // What goes on has its number, what has begun anew another.
          for (const [id, ref] of before) {
            const now = (children as Record<string, unknown>)[id];
            if (now !== undefined)
              expect([id, runOf(life, id) === runs[id]]).toEqual([id, now === ref]);
          }
        }
        actor.stop();
      }),
      { numRuns: 300 },
    );
  });
});

describe('a chart that cannot be made durable', () => {
  const refused = (machine: AnyStateMachine) => () =>
    createChart({ name: 'c', version: 1, machine, observed: [] });

  it('is refused when it is defined, with the place', () => {
    const actors = { listen: fromCallback(() => undefined) };
    expect(refused(setup({ actors }).createMachine({ invoke: { src: 'listen' } }))).toThrow(
      'the actor listen lives in memory alone',
    );
    expect(
      refused(
        setup({ actions: { tell: () => undefined } }).createMachine({
          id: 'm',
          entry: 'tel' as never,
        }),
      ),
    ).toThrow('state m: the action tel is not implemented');
    const set = setup({ guards: { isLate: () => true }, delays: { week: 604_800_000 } });
    for (const [part, problem] of [
      [{ after: { wek: '#m.b' } }, 'state m.a: the delay wek is not implemented'],
      [
        { on: { GO: { guard: 'isLat', target: 'b' } } },
        'state m.a: the guard isLat is not implemented',
      ],
      [
        { always: { guard: { type: 'isLat' }, target: 'b' } },
        'state m.a: the guard isLat is not implemented',
      ],
      [
        { after: { week: { guard: and(['isLate', not('isLat')]), target: 'b' } } },
        'state m.a: the guard isLat is not implemented',
      ],
      [
        { entry: raise({ type: 'GO' }, { delay: 'wek' as never }) },
        'state m.a: the delay wek is not implemented',
      ],
    ] as const) {
      const states = { a: part, b: {} } as never;
      expect(refused(set.createMachine({ id: 'm', initial: 'a', states }) as never)).toThrow(
        problem,
      );
    }
    const holding = setup({
      guards: { isLate: () => true, both: and(['isLate', 'toString' as never]) },
    });
    const guarded = { a: { always: { guard: 'both', target: 'b' } }, b: {} } as const;
    expect(refused(holding.createMachine({ id: 'm', initial: 'a', states: guarded }))).toThrow(
      'state m.a: the guard toString is not implemented',
    );
    const named = setup({
      actions: { later: raise({ type: 'GO' } as never, { delay: 'wek' as never }) },
    });
    expect(refused(named.createMachine({ id: 'm', entry: 'later' }))).toThrow(
      'the delay wek is not implemented',
    );
    const states = {
      a: { after: { week: { guard: and(['isLate', not('isLate')]), target: 'b' }, 1000: 'b' } },
      b: {},
    } as never;
    expect(refused(set.createMachine({ id: 'm', initial: 'a', states }) as never)).not.toThrow();
    expect(() =>
      createChart({
        name: 'c',
        version: 1,
        machine: setup({}).createMachine({}),
        observed: ['tell'],
      }),
    ).toThrow(ChartError);
  });
});

describe('an activity', () => {
  const chart = createChart({
    name: 'c',
    version: 1,
    observed: [],
    machine: setup({
      types: { context: {} as { n: number } },
      actors: { ask: fromPromise(async () => 1) },
    }).createMachine({
      context: { n: 0 },
      initial: 'asking',
      states: {
        asking: {
          entry: assign({ n: ({ context }) => context.n + 1 }),
          invoke: {
            id: 'q',
            src: 'ask',
            systemId: 'asker',
            input: ({ context, event, self }) => [context.n, event.type, self.id],
          },
          on: {
            AGAIN: { target: 'asking', reenter: true },
            TELL: { actions: sendTo('q', { type: 'HELLO' } as never) },
            FIND: {
              actions: sendTo(({ system }) => system.get('asker'), { type: 'HELLO' } as never),
            },
            STOP: { actions: stopChild('q') },
            LEAVE: 'idle',
          },
        },
        idle: {},
      },
    }),
  });
  const again = (life: Life): Life =>
    resume(chart, 'I-1', JSON.parse(JSON.stringify(life.record())) as InstanceRecord);
  const inputs = (life: Life) =>
    life.activities().map(({ path, run, input }) => [path, run, input]);

  it('begins with the entry of its state, with what that has assigned, and ends with its exit', () => {
    let life = begin(chart, 'I-1', undefined, 0);
    expect(inputs(life)).toEqual([['q', 1, [1, 'xstate.init', 'I-1']]]);
    life = again(life);
    life.apply({ type: 'AGAIN' }, 1);
    expect(inputs(life)).toEqual([['q', 2, [2, 'AGAIN', 'I-1']]]);
    life = again(life);
    life.apply({ type: 'LEAVE' }, 2);
    expect(inputs(life)).toEqual([]);
    expect(life.record().children).toBeUndefined();
  });

  it('is a child to the chart: it is spoken to, which it does not hear, and may be stopped', () => {
    let life = begin(chart, 'I-1', undefined, 0);
    for (const type of ['TELL', 'FIND']) expect(life.apply({ type }, 1)).toBe(true);
    life = again(life);
    for (const type of ['TELL', 'FIND']) expect(life.apply({ type }, 2)).toBe(true);
    expect(life.effects()).toEqual([]);
    life.apply({ type: 'STOP' }, 3);
    expect(inputs(life)).toEqual([]);
  });
});

describe('the result of an activity', () => {
  const chart = (guard: boolean) =>
    createChart({
      name: 'c',
      version: 1,
      observed: [],
      machine: setup({ actors: { ask: fromPromise(async () => 1) } }).createMachine({
        initial: 'asking',
        states: {
          asking: {
            invoke: {
              id: 'q',
              src: 'ask',
              ...(guard && { onDone: { guard: () => false, target: 'done' } }),
            },
          },
          done: {},
        },
      }),
    });

  it.each([
    ['has no transition for it', false],
    ['has one whose guard refuses it', true],
  ])('changes nothing where the chart %s, as in XState, and it is not run again', (_, guard) => {
    const life = begin(chart(guard), 'I-1', undefined, 0);
    expect(life.openActivities(0)).toHaveLength(1);
    life.end('q', { type: 'xstate.done.actor.q', output: 1 }, 1);
    expect(life.record().value).toBe('asking');
    expect(stored(chart(guard), life).openActivities(1)).toEqual([]);
  });
});

it('a circle of transitions ends its instance with an error, and is not followed for ever', () => {
  const circle = (initial: 'idle' | 'a') =>
    createChart({
      name: 'circle',
      version: 1,
      observed: [],
      machine: setup({}).createMachine({
        initial,
        states: { idle: { on: { GO: 'a' } }, a: { always: 'b' }, b: { always: 'a' } },
      }),
    });
  const life = begin(circle('idle'), 'x', undefined, 0);
  life.apply({ type: 'GO' }, 1);
  for (const each of [life, begin(circle('a'), 'x', undefined, 0)]) {
    expect(each.status()).toBe('error');
    expect(errorText(each.error())).toContain('The chart goes in a circle: over 10000 steps');
  }
});
