/**
 * The running product, in one process or in parts: from environment and configuration file to its start, and to its end by a signal.
 *
 * Without REDIS_URL this is the embedded default: a private Redis in the data directory, everything in one process.
 *
 * Stopping goes from the outside in: say so where balancers look, and serve until they have seen it; take no new requests, let
 * those in hand be answered, tell whoever still waits for a person that we are leaving, let the workers finish their steps,
 * close the connections. Whatever is open then lies in Redis and goes on with the next start.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { loadConfiguration, warningsAbout } from '../configuration/load.ts';
import type { Configuration } from '../configuration/schema.ts';
import { acquireInstanceLock } from '../embedded/instance-lock.ts';
import { startEmbeddedRedis } from '../embedded/redis.ts';
import type { Environment } from '../environment.ts';
import { listen, type RunningServer } from '../http/server.ts';
import { createLogger, createStepLog } from '../logger.ts';
import { masterKeyFileIn, masterKeyFrom } from '../pki/master-key.ts';
import { settlesWithin } from '../redis/timeout.ts';
import { clockCheck, redisCheck, workersCheck } from '../telemetry/readiness.ts';
import { createRedisProbe } from '../telemetry/redis-probe.ts';
import { startWorkerListener } from '../telemetry/worker-listener.ts';
import { type ApiSide, openApiSide } from './api-side.ts';
import { toleratedOffsetMs } from './clock-watch.ts';
import { type CoreOptions, openCore } from './core.ts';
import { objectionToNewAuthority, readKeyUse } from './key-use.ts';
import { startWorkerSide } from './worker-side.ts';

export interface Product {
  /** Where the API listens; undefined without one. */
  readonly url: string | undefined;
  /** @returns Undefined without an API. */
  consoleLink(): Promise<string | undefined>;
  /** @param hurry Once aborted, new requests are no longer waited for. */
  stop(hurry?: AbortSignal): Promise<void>;
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
    readonly authority?: {
      /** Why a Redis without a certificate authority may not get one. */
      readonly objection: string | undefined;
      /** Called when there is one. */
      noted(): Promise<void>;
    };
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

export interface Launched {
  readonly url: string | undefined;
  readonly configuration: Configuration;
  readonly dataDirectory: string;
  /** True when Redis is our own. */
  readonly embeddedRedis: boolean;
  /** Logs in to the console, once: for whoever started the embedded default, who has no account there yet. */
  readonly consoleLink: string | undefined;
  /** Resolves when the product has stopped, with the exit code. */
  readonly stopped: Promise<number>;
}

/**
 * One Ctrl-C can arrive twice, from the terminal and from the npm that the terminal told as well. Only a signal that
 * comes later than this is a second wish.
 */
const impatienceMs = 1000;

const configurationOf = async (path: string | undefined): Promise<Configuration> => {
  const loaded = await loadConfiguration(path);
  if (!loaded.ok) throw new Error(`The configuration is not usable:\n  ${loaded.problems.join('\n  ')}`);
  return loaded.value;
};

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.');

interface RedisToUse {
  readonly url: string;
  readonly embedded: boolean;
  /** Its data came from a snapshot. */
  readonly restored: boolean;
  stop(): Promise<void>;
}

const redisToUse = async (
  environment: Environment,
  onExit: (problem: string) => void,
): Promise<RedisToUse> => {
  if (environment.redisUrl !== undefined) {
    return { url: environment.redisUrl, embedded: false, restored: false, stop: async () => undefined };
  }
  const lock = acquireInstanceLock(environment.dataDirectory);
  if (!lock.held) throw new Error(lock.problem);
  const redis = await startEmbeddedRedis({
    command: environment.redisServer,
    dataDir: environment.dataDirectory,
    onExit,
  });
  return {
    url: redis.url,
    embedded: true,
    restored: redis.restored,
    stop: async () => {
      await redis.stop();
      lock.release();
    },
  };
};

/**
 * Nearly all that a request leaves behind is dead when it is collected, so that takes a millisecond. Helpers on other cores
 * would cost more than they take over, and those cores have other processes.
 */
const collectAlone = (): void => setFlagsFromString('--no-parallel-scavenge');

/**
 * Starts, and arranges that SIGINT and SIGTERM stop it in order. A second signal cuts the lame-duck time short; where that is over, or
 * at a third, the process ends at once.
 *
 * @throws An Error with a sentence for the operator.
 */
export const launch = async (
  environment: Environment,
  parts: { readonly api: boolean; readonly workers: boolean },
): Promise<Launched> => {
  collectAlone();
  const configuration = await configurationOf(environment.configurationPath);
  const now = Date.now;
  const logger = createLogger(environment.logLevel);
  const { trouble } = createStepLog(logger, now);
  if (parts.api && configuration.sandbox && !isLoopback(environment.host)) {
    logger.warn('this is a sandbox: it accepts any AP_ID, from whoever reaches the address it listens on');
  }
  if (parts.api) for (const warning of warningsAbout(configuration)) logger.warn(warning);
  if (environment.newAuthority === true) {
    logger.warn(
      'PARAPH_NEW_AUTHORITY=1 is set: an empty Redis gets a new authority. It is meant for one start',
    );
  }
  const hurry = new AbortController();
  let end: (code: number) => void = () => undefined;
  const ending = new Promise<number>((resolve) => {
    end = resolve;
  });
  const redis = await redisToUse(environment, (problem) => {
    trouble(new Error(problem));
    // Without its Redis it can serve nobody, also when it is about to stop.
    hurry.abort();
    end(1);
  });
  if (redis.restored) logger.warn('Redis was restored from dump.rdb');
  let product: Product;
  try {
    const masterKey = await masterKeyFrom({
      environmentValue: environment.masterKey,
      filePath: masterKeyFileIn(environment.dataDirectory),
    });
    const keyUse = await readKeyUse(masterKey, environment);
    product = await startProduct(
      {
        configuration,
        redisUrl: redis.url,
        masterKey,
        now,
        logger,
        onError: trouble,
        processMetrics: true,
        compiled: import.meta.url.endsWith('.js'),
      },
      {
        ...(parts.api && { api: { host: environment.host, port: environment.port } }),
        workers: parts.workers,
        authority: {
          objection: objectionToNewAuthority(keyUse, environment.newAuthority),
          // The service works without the note.
          noted: () => keyUse.note().catch(trouble),
        },
        workerHost: environment.host,
      },
    );
  } catch (error) {
    await redis.stop();
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
      throw new Error(
        `Port ${environment.port} on ${environment.host} is taken: stop what listens there, or set PORT to another.`,
      );
    }
    throw error;
  }
  const lameDuckMs = parts.api ? configuration.http.lameDuckSeconds * 1000 : 0;
  let first: number | undefined;
  let latest = 0;
  const onSignal = (): void => {
    const at = now();
    if (first === undefined) {
      first = at;
      latest = at;
      end(0);
    } else if (at - latest > impatienceMs) {
      latest = at;
      if (hurry.signal.aborted || at - first >= lameDuckMs) process.exit(1);
      hurry.abort();
    }
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  const stopped = ending.then(async (code) => {
    await product.stop(hurry.signal);
    await redis.stop();
    return code;
  });
  return {
    url: product.url,
    configuration,
    dataDirectory: environment.dataDirectory,
    embeddedRedis: redis.embedded,
    consoleLink: redis.embedded ? await product.consoleLink() : undefined,
    stopped,
  };
};
