/**
 * The running product, in one process or in parts.
 *
 * Stopping goes from the outside in: say so where balancers look, and serve until they have seen it; take no new requests, let
 * those in hand be answered, tell whoever still waits for a person that we are leaving, let the workers finish their steps,
 * close the connections. Whatever is open then lies in Redis and goes on with the next start.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '../environment.ts';
import { listen, type RunningServer } from '../http/server.ts';
import { settlesWithin } from '../redis/patience.ts';
import { clockCheck, redisCheck, workersCheck } from '../telemetry/readiness.ts';
import { createRedisProbe } from '../telemetry/redis-probe.ts';
import { startWorkerListener } from '../telemetry/worker-listener.ts';
import { type ApiSide, openApiSide } from './api-side.ts';
import { toleratedOffsetMs } from './clock-watch.ts';
import { type CoreOptions, openCore } from './core.ts';
import { startWorkerSide } from './worker-side.ts';

export interface Product {
  /** Where the API listens; undefined without one. */
  readonly url: string | undefined;
  /** @returns Undefined without an API. */
  consoleLink(): Promise<string | undefined>;
  /** @param hurry Once aborted, new requests are no longer waited for. */
  stop(hurry?: AbortSignal): Promise<void>;
}

export interface AuthorityRule {
  /** Why a Redis without a certificate authority may not get one. */
  readonly objection: string | undefined;
  /** Called when there is one. */
  noted(): Promise<void>;
}

/** How long Redis may be silent at the start before we say so. */
const noticeMs = 2000;
const lastWordsMs = 1000;

/** Serves whoever still comes, until the balancers have looked at `/readyz`. */
const beLameDuck = async (
  server: RunningServer,
  api: Pick<ApiSide, 'leave'>,
  lameDuckMs: number,
  hurry: AbortSignal | undefined,
): Promise<void> => {
  api.leave();
  if (lameDuckMs === 0) return;
  server.sayGoodbye();
  await delay(lameDuckMs, undefined, { signal: hurry }).catch(() => undefined);
};

/** Answers who can be answered in time; ends the waiting of the others, which answers them too. */
const drain = async (
  server: RunningServer,
  drainMs: number,
  endWaiting: () => Promise<void>,
): Promise<void> => {
  const drained = server.drain();
  await settlesWithin(drained, drainMs);
  await endWaiting();
  await settlesWithin(drained, lastWordsMs);
  server.cut();
};

/**
 * Starts the parts that are asked for and resolves when they work.
 *
 * @throws When the address is taken, a TLS file cannot be read, the Redis user lacks a right, or the master key does not fit the
 *   stored keys or was used before and Redis is empty.
 */
export const startProduct = async (
  options: CoreOptions,
  parts: {
    readonly api?: Pick<Environment, 'host' | 'port'>;
    readonly workers: boolean;
    /** What is known of the master key; without it, it may be new. */
    readonly authority?: AuthorityRule;
    /** For the metrics of a process that has no API. */
    readonly workerHost?: string;
  },
): Promise<Product> => {
  const { http, tls } = options.configuration;
  const ends: ((hurry?: AbortSignal) => Promise<void>)[] = [];
  const stop = async (hurry?: AbortSignal): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end(hurry);
  };
  try {
    const core = openCore(options);
    ends.push(core.close);
    const ready = core.ready();
    if (!(await settlesWithin(ready, noticeMs))) options.logger.warn('waiting for Redis to answer');
    await ready;
    const { prefix, shards } = options.configuration.queue;
    const probe = createRedisProbe({ redis: core.blocking, prefix, shards });
    const trouble = await probe.look();
    // Whatever else is wrong may pass.
    if (trouble?.kind === 'right') throw new Error(trouble.says);
    // Creates the authority at the very first start, and finds out about a wrong master key before anybody is served.
    const custody = core.custodyOver(core.blocking);
    const objection = parts.authority?.objection;
    if (objection !== undefined && !(await custody.hasAuthority())) throw new Error(objection);
    await custody.trust();
    await parts.authority?.noted();
    const workers = parts.workers ? await startWorkerSide(core) : undefined;
    if (workers !== undefined) ends.push(workers.close);
    const { workerMetricsPort } = options.configuration.operations;
    if (parts.api === undefined && workerMetricsPort !== undefined) {
      const listener = await startWorkerListener({
        host: parts.workerHost ?? '127.0.0.1',
        port: workerMetricsPort,
        routes: core.telemetry.routes,
        checks: [
          redisCheck(probe),
          clockCheck(core.clock, toleratedOffsetMs),
          workersCheck(() => workers?.areRunning() ?? false),
        ],
      });
      ends.push(async () => {
        const drained = listener.drain();
        listener.cut();
        await drained;
      });
    }
    if (parts.api === undefined) return { url: undefined, consoleLink: async () => undefined, stop };
    let address = '';
    const api = await openApiSide(core, () => address);
    ends.push(api.close);
    const server = await listen({
      fetch: api.fetch,
      refusal: api.refusal,
      ...parts.api,
      requestTimeoutMs: http.requestTimeoutSeconds * 1000,
      headersTimeoutMs: http.headersTimeoutSeconds * 1000,
      keepAliveMs: http.keepAliveSeconds * 1000,
      maxConnections: http.maxConnections,
      tls,
    });
    address = server.url;
    ends.push(async (hurry) => {
      await beLameDuck(server, api, http.lameDuckSeconds * 1000, hurry);
      await drain(server, http.drainSeconds * 1000, api.endWaiting);
    });
    await api.oauth.prepare();
    return { url: server.url, consoleLink: api.consoleLink, stop };
  } catch (error) {
    await stop(AbortSignal.abort());
    throw error;
  }
};
