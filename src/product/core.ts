/**
 * What the API and the workers of a process have in common: the connections, the registries and the
 * keys.
 *
 * The API uses the connection `commands`, which gives up within a second because a caller waits;
 * the workers use `blocking`, which never does.
 */
import type { Logger } from 'pino';
import type { Configuration } from '../configuration/schema.ts';
import type { Workflow } from '../engine/define.ts';
import { createPhoneSubscribers } from '../phone/phone-subscribers.ts';
import { createPhones } from '../phone/phones.ts';
import { createKeyCustody } from '../pki/custody.ts';
import { pointersUnder } from '../pki/extensions.ts';
import type { KeyCustody, KeyVault } from '../pki/ports.ts';
import type { Token } from '../pki/token/token.ts';
import { productVersion } from '../product-version.ts';
import { createProtocol, type Protocol } from '../protocol/parse.ts';
import type { RedisClock } from '../redis/clock.ts';
import {
  clockOf,
  connectForBlocking,
  connectForCommands,
  disconnect,
  type RedisClient,
  whenReady,
} from '../redis/connect.ts';
import { type ApplicationProviders, createApplicationProviders } from '../registry/application-providers.ts';
import { internalProviders } from '../registry/login-ap-id.ts';
import { createPasswordVerifier, type PasswordVerifier } from '../registry/password-verifier.ts';
import { createRateLimiter, type RateLimiter } from '../registry/rate-limiter.ts';
import type { ConfiguredSubscribers, SubscriberRegistry } from '../registry/subscriber.ts';
import { createSubscriberRegistry, withCertificateStates } from '../registry/subscribers.ts';
import { settlesWithin } from '../settles-within.ts';
import { type Gateways, openGateways } from '../sscd/gateways.ts';
import { createTelemetry, type Telemetry } from '../telemetry/telemetry.ts';
import { createSeals, type Seals } from '../transactions/seal.ts';
import { openShards, type Shard } from '../transactions/shards.ts';
import { asServiceWorkflow } from '../workflows/workflows.ts';
import { watchClock } from './clock-watch.ts';
import { createCustodyStore } from './custody-store.ts';
import { unlockStore } from './key-slots.ts';
import { retentionOf } from './retention.ts';
import { assertPin, openTokenSide } from './token-side.ts';

export interface CoreOptions {
  readonly configuration: Configuration;
  readonly redisUrl: string;
  /** 32 bytes, as the operator has handed them in. */
  readonly masterKey: Uint8Array;
  /** PIN of the token that `custody` names, where it names no file. */
  readonly tokenPin?: string | undefined;
  /** Compiled; default: of this program. */
  readonly tokenThread?: URL;
  /** The clock of this machine. */
  readonly now: () => number;
  readonly logger: Logger;
  readonly onError: (error: Error) => void;
  /** Charts of the operator (src/workflows/load.ts). Default: none. */
  readonly charts?: readonly Workflow[];
  /** CPU, memory and event-loop lag among the metrics: once for a process. */
  readonly processMetrics?: boolean;
  /** Node can start threads of a compiled program only. */
  readonly compiled?: boolean;
}

/**
 * Two clocks. `now` is the time of Redis: deadlines, ends, everything that another process
 * compares. `hostNow` is the clock of the machine: durations, and the OpenID provider, whose
 * library dates tokens by it.
 */
export interface Core extends CoreOptions {
  /** The service key, from {@link Core.unlock} on. Everything is sealed with it, or derived from it. */
  readonly masterKey: Uint8Array;
  readonly hostNow: () => number;
  readonly clock: RedisClock;
  readonly protocol: Protocol;
  /** Of the configuration and the sandbox. */
  readonly configured: ConfiguredSubscribers;
  /** All of them, for callers who wait. */
  readonly subscribers: SubscriberRegistry;
  readonly gateways: Gateways;
  readonly commands: RedisClient;
  readonly blocking: RedisClient;
  readonly retention: { readonly signedMs: number; readonly failedMs: number };
  readonly telemetry: Telemetry;
  /** One for the process: several would compute more at once than there are threads. */
  readonly passwords: PasswordVerifier;
  providersOver(redis: RedisClient): ApplicationProviders;
  custodyOver(redis: RedisClient): KeyCustody;
  /** Where private keys are made. */
  vaultOver(redis: RedisClient): KeyVault;
  /** Where there is one. */
  readonly token: Token | undefined;
  subscribersOver(redis: RedisClient): SubscriberRegistry;
  limiterOver(redis: RedisClient): RateLimiter;
  /** @param telemetry Those of the console are not counted. */
  shardsOver(redis: RedisClient, telemetry?: Telemetry['queue']): readonly Shard[];
  /** As the service runs them. */
  readonly workflows: readonly Workflow[];
  /** Of the workers' outcomes. */
  readonly seals: Seals;
  /**
   * Opens the service key with the master key. Call it before rooms are opened.
   *
   * @param first What becomes the service key of a new store; by default random bytes.
   * @throws When the master key is not one of those that open the store.
   */
  unlock(first?: Uint8Array): Promise<void>;
  /** Resolves when Redis can be used, however long that takes, and its time is known. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** After so long without the time of Redis, the clock of the machine will do. */
const clockTimeoutMs = 5000;

/** How often a process asks what others have revoked. */
const revocationsEveryMs = 1000;

/** A job does not hold its slot while the token is away: it comes again. */
const jobWaitsMs = 250;

/** @throws GatewayFileError, TokenSetupError */
export const openCore = (options: CoreOptions): Core => {
  const { configuration, redisUrl, masterKey, now: hostNow } = options;
  assertPin(configuration, options.tokenPin);
  const gateways = openGateways(configuration.gateways, hostNow);
  const { sandbox, queue, operations } = configuration;
  const commands = connectForCommands({ url: redisUrl }, hostNow);
  const blocking = connectForBlocking({ url: redisUrl });
  const internal = internalProviders(configuration.oidc.tenants);
  const telemetry = createTelemetry({
    version: productVersion() ?? 'unknown',
    apIds: [...configuration.applicationProviders, ...internal].map(({ id }) => id),
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
  const now = (): number => Math.floor(clock.now());
  const passwords = createPasswordVerifier();
  const { prefix } = queue;
  const { token, vault } = openTokenSide(configuration, {
    pin: options.tokenPin,
    log: {
      away: (reason) => onError(new Error(`The token is away: ${reason}`)),
      back: () => options.logger.info('the token is back'),
    },
    threadFile: options.tokenThread,
  });
  const vaultOver = (redis: RedisClient): KeyVault => vault(redis === blocking ? jobWaitsMs : undefined);
  const pkiUrl = configuration.pki.url ?? configuration.publicUrl;
  let serviceKey = masterKey;
  const custodies = new Map<RedisClient, KeyCustody>();
  const custodyOver = (redis: RedisClient): KeyCustody => {
    const present = custodies.get(redis);
    if (present !== undefined) return present;
    const store = createCustodyStore(redis, prefix);
    const made = createKeyCustody({
      ...{ store, masterKey: serviceKey, now, vault: vaultOver(redis) },
      pointersOf: pointersUnder(pkiUrl),
    });
    custodies.set(redis, made);
    return made;
  };
  // Without Redis others complain.
  const watchRevocations = (): unknown =>
    custodyOver(commands)
      .refresh()
      .catch(() => undefined);
  const revocationTimer = setInterval(watchRevocations, revocationsEveryMs).unref();
  const limiterOver = (redis: RedisClient): RateLimiter => createRateLimiter({ redis, prefix });
  const configured = createSubscriberRegistry({ subscribers: configuration.subscribers, sandbox });
  const { pinTries } = configuration.phone;
  const subscribersOver = (redis: RedisClient): SubscriberRegistry =>
    withCertificateStates(
      createPhoneSubscribers({
        ...{ configured, sandbox, now },
        defaultGateway: configuration.gateways.find((gateway) => gateway.default)?.name,
        phones: createPhones({ redis, prefix, masterKey: serviceKey, pinTries }),
        revocationOf: (serial) => custodyOver(redis).revocationOf(serial),
      }),
      (owner) => custodyOver(commands).isRevoked(owner),
    );
  let subscribers: SubscriberRegistry | undefined;
  return {
    ...options,
    get masterKey() {
      return serviceKey;
    },
    now,
    hostNow,
    clock,
    onError,
    telemetry,
    passwords,
    protocol: createProtocol(configuration.protocol),
    configured,
    get subscribers() {
      subscribers ??= subscribersOver(commands);
      return subscribers;
    },
    subscribersOver,
    gateways,
    commands,
    blocking,
    retention: retentionOf(configuration),
    workflows: (options.charts ?? []).map(asServiceWorkflow),
    get seals() {
      return createSeals(serviceKey);
    },
    providersOver: (redis) =>
      createApplicationProviders({
        providers: [...configuration.applicationProviders, ...internal],
        sandbox,
        rateLimiter: limiterOver(redis),
        passwords,
      }),
    custodyOver,
    vaultOver,
    token,
    unlock: async (first) => {
      serviceKey = await unlockStore({
        ...{ redis: blocking, prefix, masterKey, first, now },
        vault: vault(),
      });
      custodies.clear();
    },
    limiterOver,
    shardsOver: (redis, forQueues) =>
      openShards({ redis, prefix, shards: queue.shards, onError, telemetry: forQueues }),
    ready: async () => {
      await Promise.all([whenReady(commands), whenReady(blocking)]);
      void clock.refresh();
      await settlesWithin(clock.asked, clockTimeoutMs);
      // The states of certificates, for the first request, and for those who do not wait for them.
      await custodyOver(commands).refresh().catch(onError);
    },
    close: async () => {
      endWatch();
      clearInterval(revocationTimer);
      gateways.close();
      await token?.close();
      await Promise.all([disconnect(commands), disconnect(blocking)]);
    },
  };
};
