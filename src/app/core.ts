/**
 * The common base of the API and the workers of a process: the connections, the registries and the
 * keys.
 *
 * The API uses the connection `commands`, which gives up within a second because a caller waits;
 * the workers use `blocking`, which never gives up.
 */
import type { Logger } from 'pino';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import { type FirstRoot, LostAuthorityError } from '../../packages/pki/src/authorities.ts';
import { createKeyCustody } from '../../packages/pki/src/custody.ts';
import type { KeyCustody, KeyVault } from '../../packages/pki/src/ports.ts';
import { createProtocol } from '../../packages/protocol/src/parse.ts';
import { productVersion } from '../environment/product-version.ts';
import type { Part } from '../part/part.ts';
import type { SubscriberRooms } from '../part/rooms.ts';
import {
  clockOf,
  connectForBlocking,
  connectForCommands,
  disconnect,
  type RedisClient,
  whenReady,
} from '../redis/connect.ts';
import {
  type ApplicationProviders,
  createApplicationProviders,
  internalProviders,
} from '../registry/application-providers.ts';
import { createPasswordVerifier } from '../registry/password-verifier.ts';
import { createRateLimiter, type RateLimiter } from '../registry/rate-limiter.ts';
import type { SubscriberRegistry } from '../registry/subscriber.ts';
import {
  createSubscriberRegistry,
  withCertificateStates,
  withParts,
} from '../registry/subscribers.ts';
import { createEventLog } from '../telemetry/logger.ts';
import { createRedisMemoryProbe } from '../telemetry/redis-memory.ts';
import { createSeals, type Seals } from '../transactions/seal.ts';
import { openShards, type Shard } from '../transactions/shards.ts';
import { watchClock } from './clock-watch.ts';
import type { Configuration } from './configuration/schema.ts';
import { createCustodyStore } from './custody-store.ts';
import { openKeyPlace } from './key-place.ts';
import { unlockStore } from './key-slots.ts';
import { openOtherServices } from './other-services.ts';
import { pointersOf, queuesOf, settingsOf } from './part-rooms.ts';
import { retentionOf } from './retention.ts';
import { createTelemetry, type Telemetry } from './telemetry.ts';

export interface CoreOptions {
  readonly configuration: Configuration;
  readonly redisUrl: string;
  /** The master key of the operator: 32 bytes. */
  readonly masterKey: Uint8Array;
  /** Environment variables of parts. Default: none. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** The clock of this machine. */
  readonly now: () => number;
  readonly logger: Logger;
  readonly onError: (error: Error) => void;
  /** The directory of the configuration file; without it, files beside that file are not read. */
  readonly directory?: string | undefined;
  /** PARAPH_DATA; without it, parts keep nothing on this machine. */
  readonly dataDirectory?: string | undefined;
  /** The parts of the product (parts/parts.ts). */
  readonly parts: readonly Part[];
  /** Whether metrics include CPU, memory and event-loop lag: enable it once in a process. */
  readonly processMetrics?: boolean;
  /** Whether this program is compiled: only then can Node start its threads. */
  readonly compiled?: boolean;
}

export type Core = Awaited<ReturnType<typeof openCore>>;

/** Time to wait for the clock of Redis. After it the clock of the machine is used. */
const clockTimeoutMs = 5000;

/**
 * The interval at which a process asks for revocations by other processes, and whether its
 * certificate authority still exists.
 */
const custodyEveryMs = 1000;

/** A job does not hold its slot while its key is out of reach: it comes again. */
const jobWaitsMs = 250;

/**
 * Opens the core. It has two clocks. `now` is the time of Redis: deadlines, ends, everything that
 * another process compares. `hostNow` is the clock of the machine: durations, and the OpenID
 * provider, whose library dates tokens by it.
 *
 * @throws For a file that is not usable.
 */
export const openCore = async (options: CoreOptions) => {
  const { masterKey, ...given } = options;
  const { configuration, redisUrl, now: hostNow } = given;
  const eventLog = createEventLog(options.logger, hostNow);
  const services = await openOtherServices(options.parts, {
    settings: settingsOf(configuration),
    now: hostNow,
    log: eventLog,
  });
  const { sandbox, queue, operations } = configuration;
  const internal = internalProviders(configuration.oidc.tenants);
  const telemetry = createTelemetry({
    version: productVersion() ?? 'unknown',
    apIds: [...configuration.applicationProviders, ...internal].map(({ id }) => id),
    areas: options.parts.flatMap(({ areas = [] }) => areas),
    oauth: options.parts.flatMap(({ oauth }) => oauth ?? []),
    access: { token: operations.metricsToken, open: operations.metricsOpen },
    tracing: operations.tracing,
    processMetrics: options.processMetrics ?? false,
    now: hostNow,
  });
  const onError = telemetry.trouble('product', options.onError);
  const { prefix } = queue;
  // Before the connections, which would have to be closed where there is no such place.
  const keyPlace = await openKeyPlace(options.parts, {
    settings: settingsOf(configuration),
    prefix,
    variables: options.variables ?? {},
    log: eventLog,
    onError,
  }).catch((error: unknown) => {
    services.close();
    throw error;
  });
  const commands = connectForCommands({ url: redisUrl }, hostNow);
  const blocking = connectForBlocking({ url: redisUrl });
  telemetry.watchRedis('commands', commands);
  telemetry.watchRedis('blocking', blocking);
  for (const client of [commands, blocking]) client.on('error', onError);
  const clock = clockOf(commands);
  const endWatch = watchClock(clock, hostNow, options.logger);
  telemetry.watchClock(clock);
  const memory = createRedisMemoryProbe(commands);
  telemetry.watchMemory(memory);
  const now = (): number => Math.floor(clock.now());
  const passwords = createPasswordVerifier();
  const vaultOver = (redis: RedisClient): KeyVault =>
    keyPlace.vault(redis === blocking ? jobWaitsMs : undefined);
  let serviceKey = masterKey;
  const custodies = new Map<RedisClient, KeyCustody>();
  /** The first root that a custody has read, shared by all custodies of the process. */
  const firstRoot: FirstRoot = {};
  const custodyOver = (redis: RedisClient): KeyCustody => {
    const present = custodies.get(redis);
    if (present !== undefined) return present;
    const store = createCustodyStore(redis, prefix);
    const made = createKeyCustody({
      store,
      serviceKey,
      now,
      vault: vaultOver(redis),
      firstRoot,
      pointersOf: pointersOf(options.parts, configuration),
    });
    custodies.set(redis, made);
    return made;
  };
  let isAuthorityLost = false;
  const watchCustody = async (): Promise<void> => {
    try {
      await custodyOver(commands).refresh();
      isAuthorityLost = false;
    } catch (error) {
      // A lost connection to Redis is reported elsewhere.
      if (!(error instanceof LostAuthorityError)) return;
      if (!isAuthorityLost) onError(error);
      isAuthorityLost = true;
    }
  };
  const custodyTimer = setInterval(watchCustody, custodyEveryMs).unref();
  const limiterOver = (redis: RedisClient): RateLimiter => createRateLimiter({ redis, prefix });
  const configured = createSubscriberRegistry({ subscribers: configuration.subscribers, sandbox });
  const subscribersOver = (redis: RedisClient): SubscriberRegistry => {
    const rooms: SubscriberRooms = {
      settings: settingsOf(configuration),
      redis,
      prefix,
      serviceKey,
      now,
      revocationOf: (serial) => custodyOver(redis).revocationOf(serial),
    };
    const completes = options.parts.flatMap((part) => part.openSubscribers?.(rooms) ?? []);
    return withCertificateStates(
      withParts(configured, completes, services.findSubscriber),
      (owner) => custodyOver(commands).isRevoked(owner),
    );
  };
  let subscribers: SubscriberRegistry | undefined;
  return {
    ...given,
    /** The service key, from `unlock` on. Everything is sealed with it, or derived from it. */
    get serviceKey(): Uint8Array {
      return serviceKey;
    },
    now,
    hostNow,
    clock,
    memory,
    onError,
    telemetry,
    /** The log for events of rooms. */
    eventLog,
    /**
     * The only verifier of the process: several would compute more at once than there are threads.
     */
    passwords,
    protocol: createProtocol(configuration.protocol),
    /** The subscribers of the configuration and the sandbox. */
    configured,
    /** All subscribers, read over the connection that gives up within a second. */
    get subscribers(): SubscriberRegistry {
      subscribers ??= subscribersOver(commands);
      return subscribers;
    },
    subscribersOver,
    services,
    commands,
    blocking,
    retention: retentionOf(configuration),
    /** Seals and opens the outcomes that workers store. */
    get seals(): Seals {
      return createSeals(serviceKey);
    },
    providersOver: (redis: RedisClient): ApplicationProviders =>
      createApplicationProviders({
        providers: [...configuration.applicationProviders, ...internal],
        sandbox,
        rateLimiter: limiterOver(redis),
        passwords,
      }),
    custodyOver,
    /**
     * Whether Redis was emptied or exchanged since this process began. The answer is at most a
     * second old.
     */
    isAuthorityLost: (): boolean => isAuthorityLost,
    /** Gives the vault that makes private keys. */
    vaultOver,
    keyPlace,
    /**
     * Opens the service key with the master key. Call it before rooms are opened.
     *
     * @param first The service key for a new store. Default: random bytes.
     * @throws When the master key is not one of those that open the store.
     */
    unlock: async (first?: Uint8Array): Promise<void> => {
      serviceKey = await unlockStore({
        redis: blocking,
        prefix,
        masterKey,
        first,
        now,
        vault: keyPlace.vault(),
      });
      custodies.clear();
    },
    limiterOver,
    /** @param forQueues The telemetry of the queues. The console passes none. */
    shardsOver: (redis: RedisClient, forQueues?: Telemetry['queue']): readonly Shard[] =>
      openShards({
        redis,
        prefix,
        shards: queue.shards,
        queues: queuesOf(options.parts),
        onError,
        telemetry: forQueues,
      }),
    /** Resolves when Redis can be used, however long that takes, and its time is known. */
    ready: async (): Promise<void> => {
      await Promise.all([whenReady(commands), whenReady(blocking)]);
      void clock.refresh();
      await settlesWithin(clock.asked, clockTimeoutMs);
      // Reads the states of certificates for the first request, and for callers that do not wait.
      await custodyOver(commands).refresh().catch(onError);
    },
    close: async (): Promise<void> => {
      endWatch();
      clearInterval(custodyTimer);
      services.close();
      await keyPlace.close();
      await Promise.all([disconnect(commands), disconnect(blocking)]);
    },
  };
};
