import { describe, expect, it } from 'vitest';
import { createMachine, setup } from 'xstate';
import { signatureMachine } from '../../../machines/signature.machine.ts';
import { signerMachine } from '../../../parts/processes/charts/signer.machine.ts';
import {
  hasGuards,
  machineSvg,
  trailOf,
  valueText,
} from '../../../src/console/pages/machine-chart.ts';
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
    expect(states.toSorted((a, b) => a.y - b.y).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(arrows).toHaveLength(4);
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
    // One leads to the first state.
    expect(svg.match(/class="edge taken"><path d="[^"]+"\/><polygon/g)).toHaveLength(1 + 2);
  });

  it('marks the way that was gone, where it is now, and says it in words as well', () => {
    const path = pathOf(twice);
    const svg = String(statechartSvg(signatureChart, path));
    expect(svg.match(/class="edge taken"><path d="[^"]+"\/><polygon/g)).toHaveLength(1 + 4);
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

/** States in a row, with ways that skip some, go back, or end the whole. */
const inARow = (count: number) => {
  const name = (index: number): string => `step-${index}`;
  const last = count - 3;
  const states = Array.from({ length: last + 1 }, (_, index) => [
    name(index),
    {
      on: {
        ...(index < last ? { NEXT: name(index + 1) } : { DONE: 'done' }),
        ...(index % 3 === 0 && index + 3 <= last && { SKIP: name(index + 3) }),
        ...(index % 5 === 4 && { CORRECT: name(index - 3) }),
        ...(index % 4 === 1 && { REJECT: 'rejected' }),
      },
    },
  ]);
  return createMachine({
    initial: name(0),
    states: {
      ...Object.fromEntries(states),
      rejected: { type: 'final' },
      done: { type: 'final' },
    },
  });
};

/** One state from which all others begin. */
const star = (count: number) => {
  const leaves = Array.from({ length: count - 2 }, (_, index) => `leaf-${index}`);
  return createMachine({
    initial: 'hub',
    states: {
      hub: { on: Object.fromEntries(leaves.map((leaf) => [`GO_TO_${leaf}`, leaf])) },
      ...Object.fromEntries(leaves.map((leaf) => [leaf, { on: { DONE: 'end' } }])),
      end: { type: 'final' },
    },
  });
};

describe('the layout of a statechart', () => {
  interface Box {
    readonly left: number;
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
  }
  const overlap = (a: Box, b: Box): boolean =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const within = ({ x, y }: { x: number; y: number }, { left, top, right, bottom }: Box): boolean =>
    x > left && x < right && y > top && y < bottom;

  /** Points of a path of lines and cubic curves, close together. */
  const pointsOf = (path: string): readonly { readonly x: number; readonly y: number }[] => {
    const points: { x: number; y: number }[] = [];
    for (const [, command = '', given = ''] of path.matchAll(/([MLC])([^MLC]*)/g)) {
      const numbers = given.trim().split(/\s+/).map(Number);
      const [endX = 0, endY = 0] = numbers.slice(-2);
      const from = points.at(-1) ?? { x: endX, y: endY };
      const [c1x = from.x, c1y = from.y, c2x = endX, c2y = endY] =
        command === 'C' ? numbers : [from.x, from.y, endX, endY];
      for (let step = 1; step <= 40; step += 1) {
        const t = step / 40;
        const of = (a: number, b: number, c: number, d: number): number =>
          a * (1 - t) ** 3 + 3 * b * t * (1 - t) ** 2 + 3 * c * t ** 2 * (1 - t) + d * t ** 3;
        points.push({ x: of(from.x, c1x, c2x, endX), y: of(from.y, c1y, c2y, endY) });
      }
    }
    return points;
  };

  const charts = {
    'a signature': signatureChart,
    'a row of forty': readChart(inARow(40).root as never, { deep: true }),
    'a star of forty': readChart(star(40).root as never, { deep: true }),
    'a signer who is asked': readChart(signerMachine.root.states.open?.states.asking as never, {
      deep: true,
    }),
  };

  describe.each(Object.entries(charts))('of %s', (_, chart) => {
    const { states, arrows, width, height } = layOutChart(chart);
    const boxes = states.map(({ name, x, y, ...size }) => ({
      name,
      left: x,
      top: y,
      right: x + size.width,
      bottom: y + size.height,
    }));
    // The smallest type of most fonts: text must not touch even where it is narrow.
    const labels = arrows.map(({ lines, label: { x, y } }) => ({
      left: x,
      top: y - 9,
      right: x + 5.5 * Math.max(0, ...lines.map((line) => line.length)),
      bottom: y + 13 * (lines.length - 1) + 2,
    }));

    it('is not wider than a page, and everything is inside of it', () => {
      expect(width).toBeLessThanOrEqual(1240);
      for (const { left, top, right, bottom } of [...boxes, ...labels]) {
        expect(left).toBeGreaterThanOrEqual(0);
        expect(top).toBeGreaterThanOrEqual(0);
        expect(right).toBeLessThanOrEqual(width);
        expect(bottom).toBeLessThanOrEqual(height);
      }
      for (const { x, y } of arrows.flatMap(({ path }) => pointsOf(path))) {
        expect(Math.min(x, y, width - x, height - y)).toBeGreaterThanOrEqual(8);
      }
    });

    it('lays no state or label over another', () => {
      const all: readonly Box[] = [...boxes, ...labels];
      for (const [index, a] of all.entries())
        for (const b of all.slice(index + 1)) expect(overlap(a, b)).toBe(false);
    });

    it('leads no arrow through a state or a label', () => {
      expect(arrows).toHaveLength(chart.arrows.length);
      for (const [index, { from, to, path }] of arrows.entries()) {
        expect(path).not.toMatch(/NaN|undefined|Infinity/);
        const points = pointsOf(path);
        for (const box of boxes) {
          const isEnd = box.name === from || box.name === to;
          const crossed = points.some((point) => within(point, box));
          expect([from, to, box.name, crossed && !isEnd]).toEqual([from, to, box.name, false]);
        }
        for (const [other, label] of labels.entries()) {
          const crossed = points.some((point) => within(point, label));
          expect([from, to, index, other, crossed]).toEqual([from, to, index, other, false]);
        }
      }
    });

    it('leads each arrow from the edge of a state to that of another, and its head with it', () => {
      const isOnEdge = ({ x, y }: { x: number; y: number }, name: string): boolean => {
        const found = boxes.find((each) => each.name === name);
        if (found === undefined) return false;
        const { left, top, right, bottom } = found;
        const isAt = (one: number, other: number): boolean => Math.abs(one - other) < 0.2;
        return (
          ((isAt(x, left) || isAt(x, right)) && y > top - 0.2 && y < bottom + 0.2) ||
          ((isAt(y, top) || isAt(y, bottom)) && x > left - 0.2 && x < right + 0.2)
        );
      };
      for (const { from, to, path, head } of arrows) {
        const [x = 0, y = 0, ...base] = head.split(' ').map(Number);
        const [endX = 0, endY = 0] = path
          .split(/[MLC ]/)
          .slice(-2)
          .map(Number);
        const [beginX = 0, beginY = 0] = path
          .split(/[MLC ]/)
          .slice(1)
          .map(Number);
        expect([from, isOnEdge({ x: beginX, y: beginY }, from)]).toEqual([from, true]);
        expect([to, isOnEdge({ x, y }, to)]).toEqual([to, true]);
        // The line ends within the head, which points on in its direction.
        const middle = [0, 1].map((at) => ((base[at] ?? 0) + (base[at + 2] ?? 0)) / 2);
        const [backX = 0, backY = 0] = middle;
        expect(Math.hypot(x - backX, y - backY)).toBeCloseTo(9, 0);
        expect(Math.hypot(x - endX, y - endY)).toBeLessThan(9);
        expect(Math.min(Math.abs(x - endX), Math.abs(y - endY))).toBeLessThan(0.2);
        // It goes straight before the head begins.
        const [straightX = 0, straightY = 0] = path
          .split(/[MLC ]/)
          .slice(-4)
          .map(Number);
        expect(path).toMatch(/L\S+ \S+$/);
        expect(Math.hypot(x - straightX, y - straightY)).toBeGreaterThan(9);
      }
    });

    it('lets arrows leave the side of a state in the order in which they go on', () => {
      const sides = new Map<string, (readonly [begin: number, next: number])[]>();
      for (const { from, path } of arrows) {
        const [x = 0, y = 0, leaveX] = path
          .split(/[MLC ]/)
          .slice(1)
          .map(Number);
        const isDown = x === leaveX;
        const [nextX = 0, nextY = 0] = (/C\S+ \S+ \S+ \S+ (\S+ [^L]+)L/.exec(path)?.[1] ?? '')
          .split(' ')
          .map(Number);
        const side = `${from} ${isDown ? y : x}`;
        const next = isDown ? ([x, nextX] as const) : ([y, nextY] as const);
        sides.set(side, [...(sides.get(side) ?? []), next]);
      }
      for (const side of sides.values()) {
        const nexts = side.toSorted(([a], [b]) => a - b).map(([, next]) => next);
        expect(nexts).toEqual(nexts.toSorted((a, b) => a - b));
      }
    });

    it('gives each arrow a line of its own, with its label beside it', () => {
      const straight = arrows.flatMap(({ path }, index) =>
        [...path.matchAll(/(-?[\d.]+ -?[\d.]+)L(-?[\d.]+ -?[\d.]+)/g)]
          .filter(([, begin, end]) => begin !== end)
          .map(([, begin]) => `${begin} ${index}`),
      );
      expect(new Set(straight.map((each) => each.split(' ').slice(0, 2).join(' '))).size).toBe(
        new Set(straight).size,
      );
      for (const [index, { path, lines }] of arrows.entries()) {
        const label = labels[index];
        if (label === undefined || lines.length === 0) continue;
        const near = { ...label, left: label.left - 8, top: label.top - 8 };
        expect(pointsOf(path).some((point) => within(point, near))).toBe(true);
      }
    });
  });

  it('makes room for long names', () => {
    const name = 'waitingForTheAnswerOfTheInsurance';
    const machine = createMachine({ initial: name, states: { [name]: {} } });
    const [state] = layOutChart(readChart(machine.root as never)).states;
    expect(state?.width).toBeGreaterThan(name.length * 7);
  });
});

describe('the conditions of transitions', () => {
  const machine = setup({ guards: { isLarge: () => true } }).createMachine({
    initial: 'a',
    states: {
      a: {
        on: { GO: [{ guard: 'isLarge', target: 'b' }, { target: 'c' }] },
      },
      b: { always: { guard: 'isLarge', target: 'c' } },
      c: {},
    },
  });
  const linesWith = (guards: boolean): readonly (readonly string[])[] =>
    readChart(machine.root as never, { deep: true, guards }).arrows.map(({ events }) => events);

  it('are left out unless they are asked for', () => {
    expect(linesWith(false)).toEqual([['GO'], ['GO'], []]);
    expect(linesWith(true)).toEqual([['GO [isLarge]'], ['GO'], ['[isLarge]']]);
    expect(String(machineSvg(machine, 'a'))).not.toContain('isLarge');
    expect(String(machineSvg(machine, 'a', undefined, true))).toContain('[isLarge]');
    expect(hasGuards(machine)).toBe(true);
    expect(hasGuards(inARow(5))).toBe(false);
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
