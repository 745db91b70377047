/**
 * Metrics and traces of one process, as wrappers for ports that exist anyway, so that the rooms of
 * the product need not know of them. In the hot path a wrapper costs a function call and an
 * increment. Queues and connections are read only when the metrics are scraped.
 */
import type { StepLog, UpstreamLog } from '../../workers/log.ts';
import { createTransactionMetrics, createUpstreamGauge } from '../../workers/metrics.ts';
import type { HttpLog } from '../http/log.ts';
import { type AccessSettings, createMetricsRoutes } from '../http/metrics.route.ts';
import { createHttpMetrics, type Fetch } from '../http/metrics.ts';
import { createRouteOf } from '../http/route-label.ts';
import type { OauthPart } from '../oauth/extension.ts';
import type { OauthLog } from '../oauth/log.ts';
import { createOidcCounter } from '../oauth/metrics.ts';
import type { Devices } from '../sscd/devices.ts';
import { aroundDevices, createDeviceTimer } from '../sscd/metrics.ts';
import { createLabel } from '../telemetry/labels.ts';
import { observed } from '../telemetry/observed.ts';
import { createQueueMetrics, createStandstillMetric } from '../telemetry/queue-metrics.ts';
import {
  createClockMetrics,
  createMemoryMetrics,
  createRedisMetrics,
} from '../telemetry/redis-metrics.ts';
import { createRegistry } from '../telemetry/registry.ts';
import { createTroubleCounter, type Source } from '../telemetry/troubles.ts';
import { createTracing, noTracing } from './tracing.ts';

interface TelemetryOptions {
  readonly version: string;
  /** AP_IDs that get series of their own, most important first. */
  readonly apIds: readonly string[];
  /** First segments of paths that parts serve. */
  readonly areas: readonly string[];
  /** What parts add to the OpenID provider. */
  readonly oauth: readonly Pick<OauthPart<never>, 'endpoints' | 'grantTypes'>[];
  readonly access: AccessSettings;
  readonly tracing: { readonly enabled: boolean; readonly serviceName: string };
  /** CPU, memory and event-loop lag: enable once for a process. */
  readonly processMetrics: boolean;
  readonly now: () => number;
}

export type Telemetry = ReturnType<typeof createTelemetry>;

export const createTelemetry = (options: TelemetryOptions) => {
  const { version, now } = options;
  const registry = createRegistry(options);
  const countTrouble = createTroubleCounter(registry);
  const routeOf = createRouteOf(
    options.areas,
    options.oauth.flatMap(({ endpoints }) => endpoints),
  );
  const http = createHttpMetrics(registry, routeOf, now);
  const transactions = createTransactionMetrics(registry, createLabel(options.apIds));
  const upstreams = createUpstreamGauge(registry);
  const oidc = createOidcCounter(
    registry,
    options.oauth.flatMap(({ grantTypes }) => grantTypes),
  );
  const timeDevice = createDeviceTimer(registry, now);
  const { enabled, serviceName } = options.tracing;
  const tracing = enabled ? createTracing(serviceName, version, routeOf) : noTracing;
  const trouble = (source: Source) => (error: Error) => countTrouble(source, error);
  return {
    registry,
    stepLog: (inner: StepLog): StepLog =>
      observed(tracing.stepLog(inner), { ...transactions.observer, trouble: trouble('worker') }),
    transactionLog: transactions.transactionLog,
    upstreamLog: (inner: UpstreamLog): UpstreamLog => observed(inner, upstreams),
    httpLog: (inner: HttpLog): HttpLog =>
      observed(tracing.httpLog(inner), { ...http.observer, trouble: trouble('http') }),
    oauthLog: (inner: OauthLog): OauthLog => observed(inner, { ...oidc, trouble: trouble('oidc') }),
    devices: (inner: Devices): Devices => aroundDevices(tracing.devices(inner), timeDevice),
    /** Wraps the whole application. */
    fetch: (inner: Fetch): Fetch => http.fetch(tracing.fetch(inner)),
    /** Counts errors that belong to no request or job. */
    trouble:
      (source: Source, inner: (error: Error) => void) =>
      (error: Error): void => {
        countTrouble(source, error);
        inner(error);
      },
    /** Counts the refusals of the admission (`onRefused`). */
    refused: http.refused,
    watchRedis: createRedisMetrics(registry),
    watchClock: createClockMetrics(registry),
    watchMemory: createMemoryMetrics(registry),
    watchQueues: createQueueMetrics(registry),
    watchStandstill: createStandstillMetric(registry),
    /** BullMQ's `telemetry` option; undefined without traces. */
    queue: tracing.queue,
    /** The route `/metrics`. */
    routes: createMetricsRoutes(registry, options.access),
  };
};
