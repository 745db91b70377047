/**
 * A hash of what open instances depend on in a chart: its states, its transitions with the names of
 * guards and actions, its timers, and the children that it starts, over all levels. A record names
 * states, children and timers, and does not fit a chart that lacks them.
 *
 * A child that is written in its place counts like one with a name. One that `assign` or
 * `enqueueActions` makes in a step is part of a function.
 *
 * Not part of it: functions, because a record does not hold them and their text differs between a
 * source and its build; descriptions; what `meta` has but `job`; the order
 * of states.
 */
import { hash } from 'node:crypto';
import type { Chart } from '../../../packages/engine/src/chart.ts';
import type { Workflow } from '../../../packages/engine/src/define.ts';

/** Raise it when charts that have not changed would get another hash. */
const hashVersion = 2;

const unhashed = ['description', 'schemas', 'types'];
const jobOf = (meta: unknown): unknown => (Object(meta) as { readonly job?: unknown }).job;

/** Its content is that of a part. */
const isLogic = (value: object): boolean =>
  typeof (value as { readonly transition?: unknown }).transition === 'function';

/** An action of XState, such as `assign`, is a function with a type. */
const plain = (value: unknown, above: readonly unknown[] = []): unknown => {
  if (above.includes(value)) return 'circle';
  if (typeof value === 'function') {
    const { type } = value as { readonly type?: unknown };
    return ['function', typeof type === 'string' ? type : ''];
  }
  const inside = (inner: unknown): unknown => plain(inner, [...above, value]);
  if (Array.isArray(value)) return value.map(inside);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? typeof value;
  if (isLogic(value)) return 'logic';
  return Object.entries(value)
    .map(([name, inner]) => [name, name === 'meta' ? jobOf(inner) : inner] as const)
    .filter(([name, inner]) => !unhashed.includes(name) && inner !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, inner]) => [name, inside(inner)]);
};

const contentOf = ({ machine, parts }: Chart, above: readonly Chart[]): unknown => [
  plain(machine.config),
  [...parts.values()]
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map((part) =>
      part.kind !== 'chart'
        ? [part.name, part.kind]
        : // A chart may hold itself.
          [
            part.name,
            above.includes(part.chart) ? 'circle' : contentOf(part.chart, [...above, part.chart]),
          ],
    ),
];

/** @returns `2:` and 32 hexadecimal digits. The number says how it was computed. */
export const hashOfChart = ({ chart }: Pick<Workflow, 'chart'>): string =>
  `${hashVersion}:${hash('sha256', JSON.stringify(contentOf(chart, [chart]))).slice(0, 32)}`;

/** Whether two hashes that were computed in the same way name different charts. */
export const isAnotherChart = (one: string, other: string): boolean =>
  one !== other && one.split(':', 1)[0] === other.split(':', 1)[0];
