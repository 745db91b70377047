/** The chart of any machine, in its whole depth: nested and parallel states. */
import { html } from 'hono/html';
import type { AnyStateMachine } from 'xstate';
import type { JournalEntry } from '../../../packages/engine/src/journal.ts';
import { namesIn } from '../../../packages/engine/src/record.ts';
import { type Html, nothing } from './markup.ts';
import { chartSvg, drawRegions, type Path, readRegions, wayOf } from './statechart.ts';

/** What an instance has passed in one chart or nested state: the states entered, and from where. */
interface Passed {
  readonly visited: Set<string>;
  readonly ways: Path['ways'] &
    Map<string, { attempts: readonly number[]; faults: readonly number[] }>;
}

type Trail = ReadonlyMap<string, Passed>;

const keyOf = (names: readonly string[]): string => names.map(encodeURIComponent).join('/');

/**
 * The way that one chart has taken, from the journal of its instance.
 *
 * @param path The path of the child chart; empty for the instance itself.
 */
export const trailOf = (
  machine: AnyStateMachine,
  entries: readonly JournalEntry[],
  path = '',
): Trail => {
  const trail = new Map<string, Passed>();
  const isParallel = (names: readonly string[]): boolean => {
    let node: AnyStateMachine['root'] | undefined = machine.root;
    for (const name of names) node = node?.states[name];
    return node?.type === 'parallel';
  };
  let here: readonly (readonly string[])[] = [];
  for (const entry of entries) {
    if (entry.path !== path) continue;
    // The same child again.
    if (entry.kind === 'child' && entry.stage === 'begun') here = [];
    if (entry.kind !== 'state') continue;
    const before = here;
    for (const names of entry.entered.map(namesIn)) {
      const together = (other: readonly string[], depth: number): boolean =>
        names.slice(0, depth).every((name, index) => other[index] === name);
      for (const [depth, to] of names.entries()) {
        const above = names.slice(0, depth);
        const passed = trail.get(keyOf(above)) ?? { visited: new Set(), ways: new Map() };
        trail.set(keyOf(above), passed);
        passed.visited.add(to);
        const from = before.find((other) => together(other, depth))?.[depth];
        if (from !== undefined && from !== to && !isParallel(above))
          passed.ways.set(wayOf(from, to, false), { attempts: [], faults: [] });
      }
      const isLeft = (other: readonly string[]): boolean => {
        const depth = names.findIndex((name, index) => other[index] !== name);
        return depth < 0 || !isParallel(names.slice(0, depth));
      };
      here = [...here.filter((other) => !isLeft(other)), names];
    }
  }
  return trail;
};

const notPassed: Passed = { visited: new Set(), ways: new Map() };

/**
 * The value of a state, as XState writes it: `open`, `{ "open": { … } }`. Others may have written
 * it.
 */
const pathInValue = (value: unknown, trail: Trail, at: readonly string[] = []): Path => {
  const keys = typeof value === 'string' ? [value] : Object.keys(Object(value) as object);
  const part = (of: unknown, key: string): unknown => (Object(of) as Record<string, unknown>)[key];
  const { visited, ways } = trail.get(keyOf(at)) ?? notPassed;
  return {
    visited: new Set([...keys, ...visited]),
    ways,
    here: keys[0],
    inner: (state, title) =>
      title === undefined
        ? pathInValue(part(value, state), trail, [...at, state])
        : pathInValue(part(part(value, state), title), trail, [...at, state, title]),
  };
};

/** `steps.open`, `checking.score.asking, checking.know.asked`. */
export const valueText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const parts = Object.entries(Object(value) as object).map(([key, inner]) =>
    valueText(inner)
      .split(', ')
      .map((each) => (each === '' ? key : `${key}.${each}`))
      .join(', '),
  );
  return parts.join(', ');
};

/** A large chart is drawn smaller. */
const scale = 0.85;

/** Wider ones do not fit on a phone. */
const phoneWidth = 340;
/** Wider ones have the width of the page for themselves. */
const columnWidth = 640;

/** Whether the labels of a chart with the conditions of its transitions say more. */
export const hasGuards = ({ root }: AnyStateMachine): boolean =>
  JSON.stringify(readRegions(root, true)) !== JSON.stringify(readRegions(root, false));

/**
 * Any machine, in its whole depth, with its current state marked.
 *
 * @param trail The result of {@link trailOf}; its states and arrows are marked, too.
 * @param guards Whether labels name the conditions of transitions.
 */
export const machineSvg = (
  machine: AnyStateMachine,
  value: unknown,
  trail: Trail = new Map(),
  guards = false,
): Html => {
  const { type } = machine.root;
  const drawing = drawRegions(readRegions(machine.root, guards), (title) =>
    type === 'parallel' && title !== undefined
      ? pathInValue((Object(value) as Record<string, unknown>)[title], trail, [title])
      : pathInValue(value, trail),
  );
  const width = drawing.width * scale;
  const hint =
    width > phoneWidth
      ? html`<p class="quiet when-narrow">Scroll the chart sideways to see all of it.</p>`
      : nothing;
  const kind = width > columnWidth ? ' large wide' : ' large';
  return html`${hint}<div class="scroll" tabindex="0" role="group" aria-label="Statechart">${chartSvg(drawing, kind, `Statechart. Now ${valueText(value)}.`, scale)}</div>`;
};
