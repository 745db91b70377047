/**
 * Starts the product from environment and configuration file, in one process or in parts, and stops
 * it at a signal. The HTTP side is in api-side.ts, the workers in worker-side.ts.
 *
 * Without REDIS_URL this is the embedded default: a private Redis in the data directory, everything
 * in one process.
 *
 * A stop has these steps: `/readyz` says 503 while requests are still served; no new request is
 * accepted, and those in hand are answered; callers that wait for a person get an answer; workers
 * finish their turns; connections close. Open transactions stay in Redis.
 */
import { dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import { masterKeyFileIn, masterKeyFrom } from '../../packages/pki/src/master-key.ts';
import { isLoopbackHost } from '../../packages/protocol/src/loopback.ts';
import { parts as partsOfProduct } from '../../parts/parts.ts';
import type { Environment } from '../environment/environment.ts';
import { SettingFileError } from '../environment/setting-file.ts';
import type { Entrance } from '../http/documentation.route.ts';
import { listen, type RunningServer } from '../http/server.ts';
import { startWorkerListener } from '../http/worker-listener.ts';
import { PartSetupError } from '../part/opened.ts';
import { createDirectory } from '../redis/embedded/instance-lock.ts';
import { createEventLog, createLogger, type HeldOutput } from '../telemetry/logger.ts';
import { createRedisProbe } from '../telemetry/redis-probe.ts';
import { shardPrefixes } from '../transactions/contract.ts';
import { toleratedOffsetMs } from '../transactions/history/processes.ts';
import type { ApiSide } from './api-side.ts';
import { createClosing } from './closing.ts';
import { loadConfiguration, warningsAbout } from './configuration/load.ts';
import type { Configuration } from './configuration/schema.ts';
import { type Core, type CoreOptions, openCore } from './core.ts';
import { findNewAuthorityError, readKeyUse } from './key-use.ts';
import { prepareParts, readPartFiles } from './part-rooms.ts';
import { authorityCheck, clockCheck, memoryCheck, redisCheck, workersCheck } from './readiness.ts';
import {
  claimStore,
  inDataDirectory,
  openRedis,
  waitForAuthority,
  waitForRedis,
  waitForWrites,
} from './redis-at-start.ts';
import { reasonOf, StartError } from './start-error.ts';
import { stopOnSignals } from './stop-signals.ts';
import { startWorkerSide } from './worker-side.ts';

interface Product {
  /** Whether Redis had the certificate authority before. */
  readonly hadAuthority: boolean;
  /** The address of the API; undefined for a process without one. */
  readonly url: string | undefined;
  consoleLink(): Promise<string | undefined>;
  greetings(): Promise<readonly (readonly string[])[]>;
  readonly entrances: readonly Entrance[];
  /** @param hurry When it is aborted, the stop no longer waits for new requests. */
  stop(hurry?: AbortSignal): Promise<void>;
}

/** Time for sending the answers to callers that were still waiting. */
const lastAnswersMs = 1000;

/** Serves until balancers have seen `/readyz`, then answers the requests in hand. */
const stopServer = async (
  server: RunningServer,
  api: Pick<ApiSide, 'leave' | 'endWaiting'>,
  { lameDuckSeconds, drainSeconds }: Configuration['http'],
  hurry: AbortSignal | undefined,
): Promise<void> => {
  api.leave();
  if (lameDuckSeconds > 0) {
    server.sayGoodbye();
    await delay(lameDuckSeconds * 1000, undefined, { signal: hurry }).catch(() => undefined);
  }
  const drained = server.drain();
  await settlesWithin(drained, drainSeconds * 1000);
  await api.endWaiting();
  await settlesWithin(drained, lastAnswersMs);
  server.cut();
};

/** @throws StartError: all errors come from REDIS_URL, the PIN, or files of the configuration. */
const openCoreFor = async (options: CoreOptions): Promise<Core> => {
  try {
    return await openCore(options);
  } catch (error) {
    throw new StartError('usage', `${toError(error).message}.`);
  }
};

/**
 * Starts the parts that are asked for and resolves when they work.
 *
 * @throws When the address is taken, a TLS file is not usable, Redis cannot be reached, its user
 *   lacks a right or its content is of another release, or the master key does not fit the stored
 *   keys or was used before and Redis is empty.
 */
export const startProduct = async (
  options: CoreOptions,
  parts: {
    readonly api?: Pick<Environment, 'host' | 'port'>;
    readonly workers: boolean;
    /** Whether the master key may get an authority. Default: it counts as a new key. */
    readonly authority?: {
      /** The reason why a Redis without a certificate authority gets none; undefined if it may. */
      readonly error: string | undefined;
      /** Whether another process makes the authority. */
      readonly isMadeElsewhere: boolean;
      /** Called when there is an authority. */
      noted(): Promise<void>;
    };
    /** The address on which a process without an API serves its metrics. */
    readonly workerHost?: string;
    /** Called when the start waits for something that may take any time. */
    readonly onWait?: () => void;
  },
): Promise<Product> => {
  const { http, tls } = options.configuration;
  // A third of the product, with the OpenID provider: workers alone need none of it.
  const apiSide = parts.api && (await import('./api-side.ts'));
  const { add, close: stop, orClose } = createClosing();
  return orClose(async () => {
    const core = await openCoreFor(options);
    add(core.close);
    await core.keyPlace.open();
    const notice = { warn: options.logger.warn.bind(options.logger), show: parts.onWait };
    await waitForRedis(core, notice);
    const { queue } = options.configuration;
    const probe = createRedisProbe({
      redis: core.blocking,
      prefix: queue.prefix,
      shardPrefixes: shardPrefixes(queue),
    });
    const custody = core.custodyOver(core.blocking);
    await waitForWrites(probe, notice, custody.hasAuthority);
    const { error, isMadeElsewhere = false } = parts.authority ?? {};
    const hadAuthority = await custody.hasAuthority();
    if (error !== undefined && !hadAuthority) throw new StartError('refused', error);
    if (isMadeElsewhere) await waitForAuthority(custody, notice);
    await claimStore(core);
    await prepareParts(core);
    // Creates the authority at the first start, and detects a wrong master key.
    await core.unlock();
    await core.custodyOver(core.blocking).trust();
    await parts.authority?.noted();
    let address = '';
    const listensAt = (): string | undefined => address || undefined;
    const workers = parts.workers
      ? await startWorkerSide(core, { operations: true, listensAt })
      : undefined;
    if (workers !== undefined) add(workers.close);
    const { workerMetricsPort } = options.configuration.operations;
    if (parts.workers && parts.api === undefined && workerMetricsPort !== undefined) {
      const listener = await startWorkerListener({
        host: parts.workerHost ?? '127.0.0.1',
        port: workerMetricsPort,
        routes: core.telemetry.routes,
        checks: [
          redisCheck(probe),
          authorityCheck(core.isAuthorityLost),
          memoryCheck(core.memory),
          clockCheck(core.clock, toleratedOffsetMs),
          ...core.keyPlace.checks,
          workersCheck(() => workers?.areRunning() ?? false),
        ],
      });
      add(async () => {
        const drained = listener.drain();
        listener.cut();
        await drained;
      });
    }
    const nothing = async () => undefined;
    const silence = async () => [];
    if (parts.api === undefined || apiSide === undefined) {
      const none = { url: undefined, consoleLink: nothing, greetings: silence, entrances: [] };
      return { ...none, hadAuthority, stop };
    }
    const api = await apiSide.openApiSide(core, () => address);
    add(api.close);
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
    add((hurry) => stopServer(server, api, http, hurry));
    await api.prepare();
    const { consoleLink, greetings, entrances } = api;
    return { url: server.url, hadAuthority, consoleLink, greetings, entrances, stop };
  });
};

/** @param setting The name of the setting that gives the port. */
const listenError = (
  error: Error,
  setting: string,
  port: number | undefined,
  host: string,
): string =>
  'code' in error && error.code === 'EADDRINUSE'
    ? `Port ${port} on ${host} is taken: stop what listens there, or set ${setting} to another.`
    : `${setting}, HOST: this machine cannot listen on port ${port} of ${host} (${reasonOf(error)}).`;

/**
 * Starts, and stops in order at SIGINT and SIGTERM. Neither API nor workers: what every start does
 * to Redis, until `stop` is called.
 *
 * @param output Takes the log. It is shown here where the start waits without a time limit.
 * @throws An Error with a sentence for the operator.
 */
export const launch = async (
  environment: Environment,
  parts: { readonly api: boolean; readonly workers: boolean },
  output: HeldOutput,
) => {
  // Garbage here dies young: helpers on other cores would cost more than they save.
  setFlagsFromString('--no-parallel-scavenge');
  const loaded = await loadConfiguration(environment.configurationPath);
  if (!loaded.ok) {
    throw new StartError(
      'usage',
      `The configuration is not usable:\n  ${loaded.problems.join('\n  ')}`,
    );
  }
  const configuration = loaded.value;
  const directory = dirname(resolve(environment.configurationPath ?? '.'));
  await readPartFiles(partsOfProduct, configuration, directory);
  const now = Date.now;
  const logger = createLogger(environment.logLevel, output, environment.logFormat);
  const { trouble } = createEventLog(logger, now);
  if (parts.api && configuration.sandbox && !isLoopbackHost(environment.host)) {
    logger.warn(
      'this is a sandbox: it accepts any AP_ID, from whoever reaches the address it listens on',
    );
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
  const redis = await openRedis(environment, (error) => {
    trouble(new Error(error));
    // Without its Redis it can serve nothing, so it stops without delay.
    hurry.abort();
    end(1);
  });
  if (redis.restored) logger.warn('Redis was restored from dump.rdb');
  const serves = parts.api || parts.workers;
  let product: Product;
  try {
    const { masterKey: environmentValue, dataDirectory } = environment;
    const masterKey = await inDataDirectory(dataDirectory, () => {
      if (environmentValue === undefined || !serves) createDirectory(dataDirectory);
      return masterKeyFrom({ environmentValue, filePath: masterKeyFileIn(dataDirectory) });
    });
    const keyUse = await readKeyUse(masterKey, environment);
    const waits = serves && environment.newAuthority === 'wait';
    product = await startProduct(
      {
        configuration,
        redisUrl: redis.url,
        masterKey,
        variables: environment.variables,
        dataDirectory: environment.dataDirectory,
        now,
        logger,
        onError: trouble,
        directory,
        parts: partsOfProduct,
        processMetrics: true,
        compiled: import.meta.url.endsWith('.js'),
      },
      {
        ...(parts.api && { api: { host: environment.host, port: environment.port } }),
        workers: parts.workers,
        authority: {
          error: waits
            ? undefined
            : findNewAuthorityError(
                { isUsed: serves ? keyUse.isUsed : keyUse.isDirectoryUsed },
                environment.newAuthority,
              ),
          // A worker may have no data directory with the note about the key. It would make an
          // authority although an API with the note refuses to.
          isMadeElsewhere: waits || (serves && !parts.api && environment.newAuthority !== true),
          // The service works without the note; what only makes the authority is for the note, too.
          noted: () =>
            serves
              ? keyUse.note().catch(trouble)
              : inDataDirectory(dataDirectory, () => keyUse.note()),
        },
        workerHost: environment.host,
        onWait: output.show,
      },
    );
  } catch (error) {
    await redis.stop();
    if (error instanceof SettingFileError || error instanceof PartSetupError)
      throw new StartError('usage', `${error.message}.`);
    if (error instanceof Error && /^(listen|getaddrinfo) /.test(error.message)) {
      const [setting, port] = parts.api
        ? (['PORT', environment.port] as const)
        : (['operations.workerMetricsPort', configuration.operations.workerMetricsPort] as const);
      throw new StartError('usage', listenError(error, setting, port, environment.host));
    }
    throw error;
  }
  const withoutLink = (error: unknown): undefined => {
    trouble(toError(error));
    return undefined;
  };
  const lameDuckMs = parts.api ? configuration.http.lameDuckSeconds * 1000 : 0;
  const onSignal = () => {
    logger.info(
      'stopping: requests in hand are answered, open transactions go on with the next start; a second signal waits no longer',
    );
    end(0);
  };
  if (serves) stopOnSignals(lameDuckMs, hurry, onSignal);
  const stopped = ending.then(async (code) => {
    await product.stop(hurry.signal);
    await redis.stop();
    logger.info('stopped');
    return code;
  });
  return {
    url: product.url,
    configuration,
    dataDirectory: environment.dataDirectory,
    /** Whether this process runs its own Redis. */
    embeddedRedis: redis.embedded,
    /** A link that logs in to the console once. Only with the embedded Redis. */
    consoleLink: redis.embedded ? await product.consoleLink().catch(withoutLink) : undefined,
    /** What parts print at the start. Only with the embedded Redis. */
    greetings: redis.embedded ? ((await product.greetings().catch(withoutLink)) ?? []) : [],
    /** The numbers of the sandbox and those that parts add to it. */
    sandboxNumbers: partsOfProduct.flatMap(({ sandboxNumbers = [] }) => sandboxNumbers),
    /** The pages of parts with which people begin. */
    entrances: product.entrances,
    hadAuthority: product.hadAuthority,
    stop: () => end(0),
    /** Resolves when the product has stopped, with the exit code. */
    stopped,
  };
};

export type Launched = Awaited<ReturnType<typeof launch>>;
