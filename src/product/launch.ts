/**
 * From environment and configuration file to a running product, and to its end by a signal.
 *
 * Without REDIS_URL this is the embedded default: a private Redis in the data directory, everything in one process.
 */
import { setFlagsFromString } from 'node:v8';
import { loadConfiguration, warningsAbout } from '../configuration/load.ts';
import type { Configuration } from '../configuration/schema.ts';
import { acquireInstanceLock } from '../embedded/instance-lock.ts';
import { startEmbeddedRedis } from '../embedded/redis.ts';
import type { Environment } from '../environment.ts';
import { createLogger, createStepLog } from '../logger.ts';
import { masterKeyFileIn, masterKeyFrom } from '../pki/master-key.ts';
import { objectionToNewAuthority, readKeyUse } from './key-use.ts';
import { type Product, startProduct } from './product.ts';

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
