/** The hash of a chart: what changes it, and what does not. */
import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, assign, fromPromise, setup, spawnChild } from 'xstate';
import { hashOfChart, isAnotherChart } from '../../charts/chart-hash.ts';
import { defineWorkflow } from '../../charts/index.ts';

type Config = Record<string, unknown>;

const hashOf = (states: Config, more: Config = {}, actors: Config = {}): string => {
  const look = fromPromise(async () => 1);
  const machine = setup({
    actors: { look, ...actors } as never,
    guards: { one: () => true, two: () => true },
    actions: { note: () => undefined },
  }).createMachine({ initial: 'a', states, ...more } as never) as unknown as AnyStateMachine;
  return hashOfChart(defineWorkflow({ name: 'hashed', version: 1, chart: machine }));
};

const states = { a: { on: { GO: { target: 'b', guard: 'one' } } }, b: { after: { 1000: 'a' } } };
const same = hashOf(states);

describe('the hash of a chart', () => {
  it('is written with the way in which it is computed, and compares within one way', () => {
    expect(same).toMatch(/^2:[0-9a-f]{32}$/);
    expect(isAnotherChart(same, same)).toBe(false);
    expect(isAnotherChart(same, `2:${'0'.repeat(32)}`)).toBe(true);
    expect(isAnotherChart(same, `1:${'0'.repeat(32)}`)).toBe(false);
  });

  it.each<[string, Config, Config?]>([
    ['the order of states', { b: states.b, a: states.a }],
    ['descriptions and meta', { ...states, a: { ...states.a, description: 'x', meta: { y: 1 } } }],
    ['a description of the whole', states, { description: 'x' }],
    ['members that are undefined', { ...states, b: { ...states.b, entry: undefined } }],
  ])('stays the same with other %s', (_, other, more) => {
    expect(hashOf(other, more)).toBe(same);
  });

  it('stays the same with other functions', () => {
    const entered = (entry: unknown) => hashOf({ a: { entry }, b: {} });
    expect(entered(assign({ n: () => 1 }))).toBe(entered(assign({ n: () => 2, m: () => 3 })));
    expect(entered(assign({ n: () => 1 }))).not.toBe(entered('note'));
  });

  it.each<[string, Config, Config?]>([
    ['name of a state', { ...states, c: {} }],
    ['target', { ...states, a: { on: { GO: { target: 'a', guard: 'one' } } } }],
    ['event', { ...states, a: { on: { LEAVE: { target: 'b', guard: 'one' } } } }],
    ['guard', { ...states, a: { on: { GO: { target: 'b', guard: 'two' } } } }],
    ['action', { ...states, b: { ...states.b, entry: 'note' } }],
    ['timer', { ...states, b: { after: { 2000: 'a' } } }],
    ['child', { ...states, b: { ...states.b, invoke: { src: 'look' } } }],
    ['tag', { ...states, b: { ...states.b, meta: { job: 'failed' } } }],
    ['first state', states, { initial: 'b' }],
    ['context that is written out', states, { context: { n: 1 } }],
  ])('differs with another %s', (_, other, more) => {
    expect(hashOf(other, more)).not.toBe(same);
  });

  it('differs with another chart of a child', () => {
    const invoking = { a: { invoke: { src: 'child' } } };
    const child = (name: string) =>
      setup({}).createMachine({ initial: name, states: { [name]: {} } });
    const hashWith = (name: string) => hashOf(invoking, {}, { child: child(name) });
    expect(hashWith('x')).toBe(hashWith('x'));
    expect(hashWith('x')).not.toBe(hashWith('y'));
  });

  const inlineIn: Readonly<Record<string, (child: AnyStateMachine) => Config>> = {
    'is invoked': (child) => ({ a: { invoke: { src: child } } }),
    'is spawned': (child) => ({ a: { entry: spawnChild(child as never) } }),
    'lies in such a child': (child) => ({
      a: { invoke: { src: setup({}).createMachine({ invoke: { src: child } } as never) } },
    }),
  };
  const rests = { open: { on: { GO: 'bad' } }, bad: { meta: { job: 'failed' } } };
  const childOf = (config: object): AnyStateMachine =>
    setup({}).createMachine(config as never) as unknown as AnyStateMachine;

  it.each(Object.keys(inlineIn))(
    'differs with another chart that is written in its place and %s',
    (how) => {
      const hashWith = (config: object): string => hashOf(inlineIn[how]?.(childOf(config)) ?? {});
      const one = hashWith({ initial: 'open', states: rests });
      expect(hashWith({ initial: 'open', states: { bad: rests.bad, open: rests.open } })).toBe(one);
      expect(hashWith({ initial: 'open', states: rests, description: 'x' })).toBe(one);
      expect(hashWith({ initial: 'bad', states: rests })).not.toBe(one);
      expect(hashWith({ initial: 'open', states: { ...rests, bad: {} } })).not.toBe(one);
      expect(hashWith({ initial: 'open', states: { ...rests, more: {} } })).not.toBe(one);
    },
  );

  it.each(['failed', 'completed'])(
    'differs where a state says that its job has %s, in a child too',
    (job) => {
      const states = (meta: object) => ({ a: { on: { GO: 'b' } }, b: { meta } });
      expect(hashOf(states({ job }))).not.toBe(hashOf(states({})));
      const child = (meta: object) => childOf({ initial: 'a', states: states(meta) });
      const hashWith = (meta: object) =>
        hashOf({ a: { invoke: { src: 'child' } } }, {}, { child: child(meta) });
      expect(hashWith({ job })).not.toBe(hashWith({}));
      expect(hashWith({ job, more: 1 })).toBe(hashWith({ job }));
    },
  );
});
