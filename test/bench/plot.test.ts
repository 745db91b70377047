import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawPlot, ticksTo } from '../../bench/harness/plot.ts';
import type { Plot } from '../../bench/harness/scenario.ts';

/** Every element is closed in order, and no text holds a bare < or &. */
const isWellFormed = (xml: string): boolean => {
  const open: string[] = [];
  const rest = xml.replaceAll(
    /<(\/?)([a-z]+)((?: [a-zA-Z0-9:-]+="[^"<]*")*)(\/?)>/g,
    (_, end, name, _attributes, empty) => {
      if (end === '/') return open.pop() === name ? '' : '<';
      if (empty !== '/') open.push(name);
      return '';
    },
  );
  return open.length === 0 && !rest.includes('<') && !/&(?!(amp|lt|gt|quot);)/.test(rest);
};

const bars: Plot = {
  file: 'rates',
  title: 'Rates & <costs>',
  kind: 'bars',
  xLabel: 'what "it" is',
  yLabel: 'per second',
  series: [
    {
      label: 'one',
      points: [
        { x: 'a', y: 1234 },
        { x: 'b', y: 10 },
      ],
    },
    {
      label: 'two',
      points: [
        { x: 'a', y: 0 },
        { x: 'b', y: 5000 },
      ],
    },
  ],
};

const lines: Plot = {
  ...bars,
  kind: 'lines',
  logarithmicX: true,
  series: [
    {
      label: 'accept',
      points: [
        { x: 1000, y: 3 },
        { x: 1_000_000, y: 2.5 },
      ],
    },
  ],
};

describe('a plot', () => {
  it.each([
    ['bars', bars],
    ['lines', lines],
    ['no points at all', { ...lines, series: [] }],
  ])('is well-formed with %s', (_, plot) => {
    expect(isWellFormed(drawPlot(plot))).toBe(true);
  });

  it('says its title, axes, series and values', () => {
    const svg = drawPlot(bars);
    for (const text of [
      'Rates &amp; &lt;costs&gt;',
      'what &quot;it&quot; is',
      'per second',
      '>one<',
      '>two<',
      '>1 234<',
    ])
      expect(svg).toContain(text);
  });

  it('draws a bar for each point, as high as its value', () => {
    const heights = [...drawPlot(bars).matchAll(/class="bar\d"[^>]* height="([\d.]+)"/g)].map(
      ([, height]) => Number(height),
    );
    expect(heights).toHaveLength(4);
    expect(heights[2]).toBe(0);
    expect(heights[3]).toBeGreaterThan((heights[0] ?? 0) * 4);
  });

  it('has other colours for a dark page', () => {
    expect(drawPlot(bars)).toContain('prefers-color-scheme: dark');
  });

  it('puts a value at the same place whether points are near on a logarithmic axis or not', () => {
    const xOf = (plot: Plot): number[] =>
      [...drawPlot(plot).matchAll(/<circle [^>]*cx="([\d.]+)"/g)].map(([, x]) => Number(x));
    const points = [10, 100, 1000].map((x) => ({ x, y: 1 }));
    const [a = 0, b = 0, c = 0] = xOf({ ...lines, series: [{ label: 's', points }] });
    expect(b - a).toBeCloseTo(c - b, 0);
    const [d = 0, e = 0, f = 0] = xOf({
      ...lines,
      logarithmicX: false,
      series: [{ label: 's', points }],
    });
    expect(f - e).toBeGreaterThan((e - d) * 9);
  });
});

it('ticks go up from zero in even steps to just above the greatest value', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-3, max: 1e9, noNaN: true }), (most) => {
      const ticks = ticksTo(most);
      const step = ticks[1] ?? 0;
      expect(ticks[0]).toBe(0);
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(most * 0.999_99);
      expect(ticks.at(-1)).toBeLessThanOrEqual(most + step * 1.000_01);
      expect(ticks.length).toBeLessThanOrEqual(8);
    }),
  );
});
