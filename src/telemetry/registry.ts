/**
 * The registry of one process, and what it says about the process itself.
 *
 * It is our own and not the library's global one: two products in one process (tests, embedders) would otherwise count
 * into each other. Every name begins with `paraph_`.
 */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export const prefix = 'paraph_';

/** Gauges of the library whose names are those of counters. Each is the sum of another one, by type. */
const misnamed = ['active_resources_total', 'active_handles_total', 'active_requests_total'];

export interface RegistryOptions {
  readonly version: string;
  /** CPU, memory, garbage, event-loop lag. Once for a process: it observes all of it. */
  readonly processMetrics: boolean;
}

export const createRegistry = ({ version, processMetrics }: RegistryOptions): Registry => {
  const registry = new Registry();
  new Gauge({
    name: `${prefix}build_info`,
    help: 'Always 1; the labels say what runs.',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version, node: globalThis.process.version }, 1);
  if (processMetrics) {
    collectDefaultMetrics({ register: registry, prefix });
    for (const name of misnamed) registry.removeSingleMetric(`${prefix}nodejs_${name}`);
  }
  return registry;
};
