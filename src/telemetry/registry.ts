/**
 * The registry of one process, and what makes its metrics. Not the library's global registry: two
 * products in one process (tests, embedders) would count into each other. Every name begins with
 * `paraph_`.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const prefix = 'paraph_';

/** All metrics, with their help texts. */
const helps = {
  troubles_total: 'Unexpected errors, by source and kind (redis-timeout, redis-away, not-believed, other).',
  transactions_total:
    'States that attempts of transactions reached, by AP and fault. A replay is not submitted.',
  time_to_sign_seconds: 'From the beginning of an attempt to its signature, by the answered profile.',
  callbacks_total:
    'Tries to deliver a callback: delivered, undelivered (is tried again), failing (the same from the fifth try on), dead (was the last).',
  upstream_down: '1 while the circuit breaker of an upstream is open, 0 after; absent before the first time.',
  oidc_requests_total: 'Login requests by result: pushed (kept for the browser) or refused.',
  oidc_logins_total: 'Logins by result: begun, signed, failed (with its fault, if any), cancelled, limited.',
  oidc_tokens_total: 'Answers with tokens, by grant type.',
  oidc_refusals_total: 'Refused clients and token requests.',
  device_duration_seconds: 'Calls of devices, by kind of device, purpose (signature, receipt) and outcome.',
  http_requests_total: 'Answered requests, by route pattern and status.',
  http_request_duration_seconds:
    'From the arrival of a request to its answer, or to the beginning of a stream.',
  http_faults_total: 'Faults answered by the signature interface, by route and code.',
  http_refused_total: 'Requests refused for lack of room, by what was short; not among the answered.',
  redis_up: '1 while the connection can be used.',
  redis_reconnects_total: 'Attempts to connect again.',
  redis_command_duration_seconds: 'Commands, one in 64, from their issue to their answer.',
  redis_may_evict:
    '1 while Redis has a limit of memory and a maxmemory-policy other than noeviction: what was accepted may be lost.',
  redis_evicted_keys: 'Keys that Redis has removed to free memory, since it started.',
  clock_offset_seconds: 'How far the clock of this process is ahead of that of Redis; negative when behind.',
  queue_standstill_seconds:
    'How long no worker has taken a signature job although some wait, by shard; else 0.',
  queue_jobs: 'Jobs in each queue, by state. Every process reports the same queues.',
  queue_oldest_age_seconds:
    'Age of the oldest job: waiting since submission, active since taken, delayed past its time, failed.',
  build_info: 'Always 1; the labels say what runs.',
} as const;
type MetricName = keyof typeof helps;

export const counter = <Label extends string>(
  registry: Registry,
  name: MetricName,
  labelNames: readonly Label[],
) => new Counter({ name: `${prefix}${name}`, help: helps[name], labelNames, registers: [registry] });

export const histogram = <Label extends string>(
  registry: Registry,
  name: MetricName,
  labelNames: readonly Label[],
  buckets: number[],
) =>
  new Histogram({ name: `${prefix}${name}`, help: helps[name], labelNames, buckets, registers: [registry] });

/** @param collect Sets the gauge when the metrics are read. */
export const gauge = <Label extends string>(
  registry: Registry,
  name: MetricName,
  labelNames: readonly Label[],
  collect?: () => void | Promise<void>,
): Gauge<Label> =>
  new Gauge({
    name: `${prefix}${name}`,
    help: helps[name],
    labelNames,
    registers: [registry],
    ...(collect && { collect }),
  });

/** Gauges of the library with names of counters. Each is the sum of another gauge. */
const misnamed = ['active_resources_total', 'active_handles_total', 'active_requests_total'];

interface RegistryOptions {
  readonly version: string;
  /** CPU, memory, garbage collection, event-loop lag. Enable once for a process. */
  readonly processMetrics: boolean;
}

export const createRegistry = ({ version, processMetrics }: RegistryOptions): Registry => {
  const registry = new Registry();
  gauge(registry, 'build_info', ['version', 'node']).set({ version, node: globalThis.process.version }, 1);
  if (processMetrics) {
    collectDefaultMetrics({ register: registry, prefix });
    for (const name of misnamed) registry.removeSingleMetric(`${prefix}nodejs_${name}`);
  }
  return registry;
};
