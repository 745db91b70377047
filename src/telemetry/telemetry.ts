/**
 * Metrics and traces of one process, as wrappers for the ports that exist: whoever builds a part of the product puts one
 * around what he passes on, and the parts themselves know nothing of it.
 *
 * In the hot path that is a function call and an increment for each thing told. What has to be asked for (queues,
 * connections) is asked for when somebody scrapes.
 */
import type { Telemetry as QueueTelemetry } from 'bullmq';
import type { Hono } from 'hono';
import type { Registry } from 'prom-client';
import type { CallbackLog } from '../../workers/callback.worker.ts';
import type { StepLog, TransactionLog, UpstreamLog } from '../../workers/log.ts';
import type { HttpLog } from '../http/log.ts';
import type { OauthLog } from '../oauth/log.ts';
import type { RedisClock } from '../redis/clock.ts';
import type { Devices } from '../sscd/devices.ts';
import type { AccessSettings } from './access.ts';
import { createCallbackMetrics } from './callback-metrics.ts';
import { createClockMetrics } from './clock-metrics.ts';
import { createDeviceMetrics } from './device-metrics.ts';
import type { Bindings, Fetch } from './fetch.ts';
import { createHttpMetrics } from './http-metrics.ts';
import { createLabel } from './labels.ts';
import { createMetricsRoutes } from './metrics.route.ts';
import { createOidcMetrics } from './oidc-metrics.ts';
import { createQueueMetrics, createStandstillMetric, type QueueMetricsOptions } from './queue-metrics.ts';
import { type ConnectionName, createRedisMetrics, type Watched } from './redis-metrics.ts';
import { createRegistry } from './registry.ts';
import { createTracing, noTracing } from './tracing.ts';
import { createTransactionMetrics } from './transaction-metrics.ts';
import { createTroubles, type Source } from './troubles.ts';
import { createUpstreamMetrics } from './upstream-metrics.ts';

export interface TelemetryOptions {
  readonly version: string;
  /** AP_IDs that get series of their own, most important first. */
  readonly apIds: readonly string[];
  readonly access: AccessSettings;
  readonly tracing: { readonly enabled: boolean; readonly serviceName: string };
  /** Also CPU, memory and event-loop lag: once for a process. */
  readonly processMetrics: boolean;
  readonly now: () => number;
}

export interface Telemetry {
  readonly registry: Registry;
  readonly stepLog: (inner: StepLog) => StepLog;
  readonly transactionLog: TransactionLog;
  readonly upstreamLog: (inner: UpstreamLog) => UpstreamLog;
  readonly callbackLog: (inner: CallbackLog) => CallbackLog;
  readonly httpLog: (inner: HttpLog) => HttpLog;
  readonly oauthLog: (inner: OauthLog) => OauthLog;
  readonly devices: (inner: Devices) => Devices;
  /** Around the whole application. */
  readonly fetch: (inner: Fetch) => Fetch;
  /** Around whatever takes errors that belong to nobody. */
  readonly trouble: (source: Source, inner: (error: Error) => void) => (error: Error) => void;
  /** For the admission's `onRefused`. */
  readonly refused: (count: number, shortage: string) => void;
  readonly watchRedis: (connection: ConnectionName, client: Watched) => void;
  readonly watchClock: (clock: Pick<RedisClock, 'offsetMs'>) => void;
  readonly watchQueues: (options: QueueMetricsOptions) => void;
  readonly watchStandstill: (seconds: () => readonly number[]) => void;
  /** BullMQ's `telemetry` option; undefined without traces. */
  readonly queue: QueueTelemetry | undefined;
  /** `/metrics`. */
  readonly routes: Hono<{ Bindings: Bindings }>;
}

export const createTelemetry = (options: TelemetryOptions): Telemetry => {
  const { version, now } = options;
  const registry = createRegistry(options);
  const troubles = createTroubles(registry);
  const http = createHttpMetrics(registry, now, troubles);
  const transactions = createTransactionMetrics(registry, createLabel(options.apIds), troubles);
  const deviceMetrics = createDeviceMetrics(registry, now);
  const tracing = options.tracing.enabled ? createTracing(options.tracing.serviceName, version) : noTracing;
  return {
    registry,
    stepLog: (inner) => transactions.stepLog(tracing.stepLog(inner)),
    transactionLog: transactions.transactionLog,
    upstreamLog: createUpstreamMetrics(registry),
    callbackLog: createCallbackMetrics(registry),
    httpLog: (inner) => http.log(tracing.httpLog(inner)),
    oauthLog: createOidcMetrics(registry, troubles),
    devices: (inner) => deviceMetrics(tracing.devices(inner)),
    fetch: (inner) => http.fetch(tracing.fetch(inner)),
    trouble: troubles.counting,
    refused: http.refused,
    watchRedis: createRedisMetrics(registry),
    watchClock: createClockMetrics(registry),
    watchQueues: createQueueMetrics(registry),
    watchStandstill: createStandstillMetric(registry),
    queue: tracing.queue,
    routes: createMetricsRoutes(registry, options.access),
  };
};
