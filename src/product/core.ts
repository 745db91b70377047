/**
 * What the API and the workers of a process have in common: the connections, the registries and the
 * keys.
 *
 * The API uses the connection `commands`, which gives up within a second because a caller waits;
 * the workers use `blocking`, which never does.
 */
import type { Logger } from 'pino';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import type { Configuration } from '../configuration/schema.ts';
import { createEventLog } from '../logger.ts';
import type { Part, SubscriberRooms } from '../part.ts';
import { type FirstRoot, LostAuthorityError } from '../pki/authorities.ts';
import { createKeyCustody } from '../pki/custody.ts';
import type { KeyCustody, KeyVault } from '../pki/ports.ts';
import { productVersion } from '../product-version.ts';
import { createProtocol } from '../protocol/parse.ts';
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
import { createRedisMemoryProbe } from '../telemetry/redis-memory.ts';
import { createSeals, type Seals } from '../transactions/seal.ts';
import { openShards, type Shard } from '../transactions/shards.ts';
import { watchClock } from './clock-watch.ts';
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
  /** 32 bytes, as the operator has handed them in. */
  readonly masterKey: Uint8Array;
  /** Environment variables of parts. Default: none. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** The clock of this machine. */
  readonly now: () => number;
  readonly logger: Logger;
  readonly onError: (error: Error) => void;
  /** Where the configuration file lies; without it, files beside it are not read. */
  readonly directory?: string | undefined;
  /** Of the product (parts/parts.ts). */
  readonly parts: readonly Part[];
  /** CPU, memory and event-loop lag among the metrics: once for a process. */
  readonly processMetrics?: boolean;
  /** Node can start threads of a compiled program only. */
  readonly compiled?: boolean;
}

export type Core = Awaited<ReturnType<typeof openCore>>;

/** After so long without the time of Redis, the clock of the machine will do. */
const clockTimeoutMs = 5000;

/**
 * How often a process asks what others have revoked, and whether its certificate authority is still
 * there.
 */
const custodyEveryMs = 1000;

/** A job does not hold its slot while its key is out of reach: it comes again. */
const jobWaitsMs = 250;

/**
 * Two clocks. `now` is the time of Redis: deadlines, ends, everything that another process
 * compares. `hostNow` is the clock of the machine: durations, and the OpenID provider, whose
 * library dates tokens by it.
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
  const commands = connectForCommands({ url: redisUrl }, hostNow);
  const blocking = connectForBlocking({ url: redisUrl });
  const internal = internalProviders(configuration.oidc.tenants);
  const telemetry = createTelemetry({
    version: productVersion() ?? 'unknown',
    apIds: [...configuration.applicationProviders, ...internal].map(({ id }) => id),
    areas: options.parts.flatMap(({ areas = [] }) => areas),
    access: { token: operations.metricsToken, open: operations.metricsOpen },
    tracing: operations.tracing,
    processMetrics: options.processMetrics ?? false,
    now: hostNow,
  });
  telemetry.watchRedis('commands', commands);
  telemetry.watchRedis('blocking', blocking);
  const onError = telemetry.trouble('product', options.onError);
  for (const client of [commands, blocking]) client.on('error', onError);
  const clock = clockOf(commands);
  const endWatch = watchClock(clock, hostNow, options.logger);
  telemetry.watchClock(clock);
  const memory = createRedisMemoryProbe(commands);
  telemetry.watchMemory(memory);
  const now = (): number => Math.floor(clock.now());
  const passwords = createPasswordVerifier();
  const { prefix } = queue;
  const keyPlace = await openKeyPlace(options.parts, {
    settings: settingsOf(configuration),
    prefix,
    variables: options.variables ?? {},
    log: eventLog,
    onError,
  });
  const vaultOver = (redis: RedisClient): KeyVault =>
    keyPlace.vault(redis === blocking ? jobWaitsMs : undefined);
  let serviceKey = masterKey;
  const custodies = new Map<RedisClient, KeyCustody>();
  /** What one custody has read holds for the others, too. */
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
      // Without Redis others complain.
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
    /** What rooms write their logs with. */
    eventLog,
    /** One for the process: several would compute more at once than there are threads. */
    passwords,
    protocol: createProtocol(configuration.protocol),
    /** Of the configuration and the sandbox. */
    configured,
    /** All of them, for callers who wait. */
    get subscribers(): SubscriberRegistry {
      subscribers ??= subscribersOver(commands);
      return subscribers;
    },
    subscribersOver,
    services,
    commands,
    blocking,
    retention: retentionOf(configuration),
    /** Of the workers' outcomes. */
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
     * Whether Redis was emptied or exchanged since this process began, as it knows it: a second old
     * at most.
     */
    isAuthorityLost: (): boolean => isAuthorityLost,
    /** Where private keys are made. */
    vaultOver,
    keyPlace,
    /**
     * Opens the service key with the master key. Call it before rooms are opened.
     *
     * @param first What becomes the service key of a new store; by default random bytes.
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
    /** @param forQueues Those of the console are not counted. */
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
      // The states of certificates, for the first request, and for those who do not wait for them.
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
