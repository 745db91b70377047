/** The parts of a chart in words of people. XState writes `xstate.after.<delay>.<state>`. */

const units = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
] as const;

/** A duration in words, such as `2 days` or `1500 ms`. */
export const durationText = (ms: number): string => {
  const [unitMs, unit] = units.find(([each]) => ms >= each && ms % each === 0) ?? [];
  if (unitMs === undefined) return `${ms} ms`;
  const count = ms / unitMs;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
};

/**
 * The delay of a transition's event: its name, or the time.
 * @returns Undefined for another event.
 */
export const delayOf = (event: string): string | undefined => {
  const [, delay] = /^xstate\.after\.([^.]+)/.exec(event) ?? [];
  return delay !== undefined && /^\d+$/.test(delay) ? durationText(Number(delay)) : delay;
};

interface Invoked {
  readonly id?: string;
  readonly src: unknown;
}
/** A state node of XState. */
interface Configured {
  readonly id: string;
  readonly config: object;
}

/** The engine has taken activities out of the nodes; the configuration still has them. */
export const invokedBy = ({ config }: Pick<Configured, 'config'>): readonly Invoked[] => {
  const { invoke = [] } = config as { readonly invoke?: Invoked | readonly Invoked[] };
  return [invoke].flat();
};

/**
 * Finds what a node invokes as `child`, the last part of `xstate.done.actor.<child>`. XState names
 * a child without an id by its place.
 */
export const invokedAs = (node: Configured, child: string): Invoked | undefined =>
  invokedBy(node).find(({ id }, index) => (id ?? `${index}.${node.id}`) === child);
