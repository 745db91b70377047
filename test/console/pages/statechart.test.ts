import { describe, expect, it } from 'vitest';
import { createMachine, setup } from 'xstate';
import { signatureMachine } from '../../../machines/signature.machine.ts';
import { signerMachine } from '../../../parts/processes/charts/signer.machine.ts';
import { machineSvg, trailOf, valueText } from '../../../src/console/pages/machine-chart.ts';
import {
  pathOf,
  readChart,
  signatureChart,
  statechartSvg,
  statechartTable,
} from '../../../src/console/pages/statechart.ts';
import { layOutChart } from '../../../src/console/pages/statechart-layout.ts';

const texts = (markup: unknown): readonly string[] =>
  [...String(markup).matchAll(/>([^<>]+)</g)].map(([, text = '']) => text);

describe('the statechart of a transaction', () => {
  it('has every state of the machine, and what leads from one to another, in its words', () => {
    const { states } = signatureMachine.config;
    expect(signatureChart.states.map(({ name }) => name)).toEqual(Object.keys(states ?? {}));
    expect(
      signatureChart.arrows.map(({ from, to, events }) => `${from} ${to}: ${events.join(' ')}`),
    ).toEqual([
      'submitted failed: CANCEL choose',
      'submitted failed: deadline',
      'submitted signed: choose',
      'submitted pending: choose',
      'pending failed: ANSWERED CANCEL ask verify',
      'pending submitted: REPLAY',
      'pending failed: deadline',
      'pending signed: ask verify',
      'signed receipted: RECEIPTED',
      'failed submitted: REPLAY',
    ]);
    expect(signatureChart.states.filter(({ isFinal }) => isFinal)).toEqual([
      { name: 'receipted', isFinal: true },
    ]);
  });

  it('follows a machine that gains a state', () => {
    const machine = setup({}).createMachine({
      initial: 'a',
      states: {
        a: { on: { GO: 'b', SKIP: 'c' } },
        b: { on: { GO: 'c' } },
        c: { on: { BACK: 'a' } },
      },
    });
    const { states, arrows } = layOutChart(readChart(machine.root as never));
    expect(states.map(({ name, row }) => [name, row])).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ]);
    expect(arrows).toHaveLength(4);
  });

  it('lays no state over another and keeps everything inside the drawing', () => {
    const { states, arrows, box, width, height } = layOutChart(signatureChart);
    expect(new Set(states.map(({ y }) => y)).size).toBe(states.length);
    for (const { x, y } of states) {
      expect(x + box.width).toBeLessThanOrEqual(width);
      expect(y + box.height).toBeLessThanOrEqual(height);
    }
    expect(arrows).toHaveLength(signatureChart.arrows.length);
    for (const { path, label } of arrows) {
      expect(path).not.toMatch(/NaN|undefined|Infinity/);
      expect(label.x).toBeLessThan(width);
      expect(label.y).toBeLessThan(height);
    }
    const ends = arrows.map(({ from, to, isExpiry, head, path }) => ({
      to,
      isExpiry,
      head,
      from,
      path,
    }));
    for (const a of ends) {
      for (const b of ends) {
        if (a !== b && a.head === b.head) expect([a.to, a.isExpiry]).toEqual([b.to, b.isExpiry]);
      }
    }
    expect(new Set(arrows.map(({ path }) => path)).size).toBe(arrows.length);
    expect(new Set(arrows.map(({ label }) => `${label.x} ${label.y}`)).size).toBe(arrows.length);
  });

  it('leads no arrow through a state that it does not end at', () => {
    const { states, arrows, box } = layOutChart(signatureChart);
    for (const { from, to, path } of arrows) {
      let [x, y] = [0, 0];
      for (const [, command = '', given = ''] of path.matchAll(/([MHVQ])([^MHVQ]*)/g)) {
        const numbers = given.trim().split(' ').map(Number);
        const [endX, endY] =
          command === 'H'
            ? [numbers[0] ?? 0, y]
            : command === 'V'
              ? [x, numbers[0] ?? 0]
              : [numbers.at(-2) ?? 0, numbers.at(-1) ?? 0];
        const crossed = states.filter(
          ({ name, x: left, y: top }) =>
            command !== 'M' &&
            name !== from &&
            name !== to &&
            Math.max(x, endX) > left &&
            Math.min(x, endX) < left + box.width &&
            Math.max(y, endY) > top &&
            Math.min(y, endY) < top + box.height,
        );
        expect(crossed, `${from} to ${to}`).toEqual([]);
        [x, y] = [endX, endY];
      }
    }
  });

  const twice = [
    { state: 'submitted', attempt: 1, at: 0 },
    { state: 'pending', attempt: 1, at: 10 },
    { state: 'failed', attempt: 1, at: 60_000, fault: { code: 401 } },
    { state: 'submitted', attempt: 2, at: 90_000 },
    { state: 'pending', attempt: 2, at: 90_010 },
    { state: 'signed', attempt: 2, at: 90_020 },
  ];

  it('says in which attempts a way was gone', () => {
    const { ways, visited, here } = pathOf(twice);
    expect(here).toBe('signed');
    expect([...visited]).toEqual(['submitted', 'pending', 'failed', 'signed']);
    expect(ways.get('submitted pending')).toEqual({ attempts: [1, 2], faults: [] });
    expect(ways.get('failed submitted')).toEqual({ attempts: [2], faults: [] });
    expect(ways.get('pending failed')).toEqual({ attempts: [1], faults: [401] });
    expect(ways.get('signed receipted')).toBeUndefined();
  });

  it('says whether a fault came or the time was up', () => {
    const once = (code: number, at: number) => [
      ...twice.slice(0, 2),
      { ...twice[2], at, fault: { code } },
    ];
    const wayOf = (code: number, at: number, timeoutMs?: number) =>
      [...pathOf(once(code, at) as typeof twice, timeoutMs).ways].at(-1);
    expect(wayOf(401, 500, 60_000)?.[0]).toBe('pending failed');
    expect(wayOf(209, 500, 60_000)?.[0]).toBe('pending failed');
    expect(wayOf(209, 60_000, 60_000)).toEqual([
      'pending failed expired',
      { attempts: [1], faults: [209] },
    ]);
    expect(wayOf(401, 60_000, 60_000)?.[0]).toBe('pending failed');
    expect(wayOf(208, 60_000)?.[0]).toBe('pending failed expired');
    const svg = String(statechartSvg(signatureChart, pathOf(once(208, 60_000) as typeof twice)));
    expect(texts(svg)).toContain('fault 208');
    expect(svg.match(/class="edge taken"><path d="[^"]+"\/><polygon/g)).toHaveLength(2);
  });

  it('marks the way that was gone, where it is now, and says it in words as well', () => {
    const path = pathOf(twice);
    const svg = String(statechartSvg(signatureChart, path));
    expect(svg.match(/class="edge taken"><path d="[^"]+"\/><polygon/g)).toHaveLength(4);
    expect(svg.match(/class="node visited here"/g)).toHaveLength(1);
    expect(texts(svg)).toContain('attempts 1, 2');
    expect(svg).toContain('role="img"');
    expect(texts(statechartTable(signatureChart, path))).toContain('2 times, attempts 1, 2');
  });

  it('draws nested and parallel states of any machine, with all that are active', () => {
    const value = { open: { asking: 'prompting', reminding: 'waiting' } };
    const drawn = String(machineSvg(signerMachine, value));
    const here = [
      ...drawn.matchAll(/class="node visited here[^"]*"><rect[^>]*\/><text[^>]*>([^<]+)/g),
    ];
    expect(here.map(([, name]) => name)).toEqual(['open', 'prompting', 'waiting']);
    expect([...drawn.matchAll(/class="region"[^>]*>([^<]+)/g)].map(([, name]) => name)).toEqual([
      'asking',
      'reminding',
    ]);
    expect(drawn).toContain('>sign</tspan>');
    expect(valueText(value)).toBe('open.asking.prompting, open.reminding.waiting');
    for (const hostile of [undefined, 7, 'gone', { open: 7 }, { open: { asking: [] } }])
      expect(String(machineSvg(signerMachine, hostile))).toContain('<svg');
  });
});

describe('the way of an instance', () => {
  const machine = createMachine({
    initial: 'draft',
    states: {
      draft: { on: { GO: 'open' } },
      open: {
        type: 'parallel',
        onDone: 'ended',
        states: {
          'left.one': { initial: 'a', states: { a: { on: { L: 'b' } }, b: { type: 'final' } } },
          right: {
            initial: 'c',
            states: { c: { on: { R: 'd', S: 'e' } }, d: { type: 'final' }, e: {} },
          },
        },
      },
      ended: { type: 'final' },
    },
  });
  const step = (path: string, ...entered: readonly string[]) =>
    ({ kind: 'state', at: 0, path, entered }) as const;
  const steps = [
    step('', 'draft'),
    step('', 'open/left.one/a', 'open/right/c'),
    step('other', 'ended'),
    step('', 'open/left.one/b'),
    step('', 'open/right/d'),
    step('', 'ended'),
  ];

  it('is read from its journal, in nested and parallel states', () => {
    const trail = trailOf(machine, steps);
    const seen = [...trail].map(([at, { visited, ways }]) => [at, [...visited], [...ways.keys()]]);
    expect(seen).toEqual([
      ['', ['draft', 'open', 'ended'], ['draft open', 'open ended']],
      ['open', ['left.one', 'right'], []],
      ['open/left.one', ['a', 'b'], ['a b']],
      ['open/right', ['c', 'd'], ['c d']],
    ]);
    expect(trailOf(machine, steps, 'other').get('')?.visited).toEqual(new Set(['ended']));
  });

  it('is marked in its chart, and nothing where there is no journal', () => {
    const count = (text: string, what: string): number => text.split(what).length - 1;
    const drawn = String(machineSvg(machine, 'ended', trailOf(machine, steps)));
    // One for the arrow to each initial state.
    const initial = 3;
    expect(count(drawn, 'class="edge taken"')).toBe(initial + 4);
    expect(count(drawn, ' visited')).toBe(7);
    expect(drawn).not.toContain('attempt');
    const plain = String(machineSvg(machine, 'ended'));
    expect(count(plain, 'class="edge taken"')).toBe(initial);
    expect(count(plain, ' visited')).toBe(1);
  });

  it('begins anew where the same child is begun again', () => {
    const begun = { kind: 'child', at: 0, path: 'x', name: 'line', stage: 'begun' } as const;
    const again = [begun, step('x', 'draft'), step('x', 'ended'), begun, step('x', 'draft')];
    expect([...(trailOf(machine, again, 'x').get('')?.ways.keys() ?? [])]).toEqual(['draft ended']);
  });
});
