/**
 * The registry of one process, and the functions that make its metrics. The global registry of the
 * library is not used, because two products in one process (tests, embedders) would share counters.
 * Every name begins with `paraph_`.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type { Registry } from 'prom-client';

const prefix = 'paraph_';

/** The counter of this name. A second call gives the same counter. */
export const counter = <Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly Label[],
): Counter<Label> =>
  (registry.getSingleMetric(`${prefix}${name}`) as Counter<Label> | undefined) ??
  new Counter({ name: `${prefix}${name}`, help, labelNames, registers: [registry] });

export const histogram = <Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly Label[],
  buckets: number[],
) => new Histogram({ name: `${prefix}${name}`, help, labelNames, buckets, registers: [registry] });

/** @param collect Sets the gauge when the metrics are read. */
export const gauge = <Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly Label[],
  collect?: () => void | Promise<void>,
): Gauge<Label> =>
  new Gauge({
    name: `${prefix}${name}`,
    help,
    labelNames,
    registers: [registry],
    ...(collect && { collect }),
  });

/** Gauges of the library with names of counters. Each is the sum of another gauge. */
const misnamed = ['active_resources_total', 'active_handles_total', 'active_requests_total'];

interface RegistryOptions {
  readonly version: string;
  /** Whether CPU, memory, garbage collection and event-loop lag are measured; once in a process. */
  readonly processMetrics: boolean;
}

export const createRegistry = ({ version, processMetrics }: RegistryOptions): Registry => {
  const registry = new Registry();
  gauge(registry, 'build_info', 'Always 1; the labels say what runs.', ['version', 'node']).set(
    { version, node: globalThis.process.version },
    1,
  );
  if (processMetrics) {
    collectDefaultMetrics({ register: registry, prefix });
    for (const name of misnamed) registry.removeSingleMetric(`${prefix}nodejs_${name}`);
  }
  return registry;
};
