/**
 * What a part is given: its settings, and rooms of the core by where and when it runs. A member
 * stands here when a part needs it that could not open it from the others.
 */
import type { Telemetry } from 'bullmq';
import type { z } from 'zod';
import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import type { Protocol } from '../../packages/protocol/src/parse.ts';
import type { Audit } from '../console/operators/audit.ts';
import type { ApplicationRouteOptions } from '../http/application-route.ts';
import type { Tellers } from '../http/outgoing/tellers.ts';
import type { PageFrame } from '../http/pages/assets.ts';
import type { OauthDeps } from '../oauth/deps.ts';
import type { JoinLogin } from '../oauth/interaction/device-start.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { ApplicationProviders } from '../registry/application-providers.ts';
import type { OauthClient } from '../registry/oauth-client.ts';
import type { OtherServices } from '../registry/other-services.ts';
import type { RateLimiter } from '../registry/rate-limiter.ts';
import type {
  ConfiguredSubscribers,
  SubscriberRegistry,
  SubscriberTemplate,
} from '../registry/subscriber.ts';
import type { EventLog } from '../telemetry/logger.ts';
import type { Registry } from '../telemetry/registry.ts';
import type { Answer } from '../transactions/answers.ts';
import type { Backlog } from '../transactions/backlog.ts';
import type { TransactionView } from '../transactions/outcomes.ts';
import type { Seals } from '../transactions/seal.ts';
import type { Shard } from '../transactions/shards.ts';
import type { FindTransaction } from '../transactions/transactions.ts';

/** Members that a part adds to the configuration file, by their place there. */
export interface PartShapes {
  readonly root?: z.ZodRawShape;
  /** Members of each entry of `applicationProviders`. */
  readonly applicationProvider?: z.ZodRawShape;
  /** Members of each entry of `oidc.tenants[].clients`. */
  readonly oauthClient?: z.ZodRawShape;
  readonly operations?: z.ZodRawShape;
  readonly queue?: z.ZodRawShape;
}

type Added<Shape> = Shape extends z.ZodRawShape ? z.output<z.ZodObject<Shape>> : unknown;

/** The configuration with the members of a part. */
export type PartSettings<Shapes extends PartShapes = PartShapes> = Readonly<
  Added<Shapes['root']>
> & {
  readonly sandbox: boolean;
  readonly publicUrl?: string | undefined;
  readonly protocol: { readonly authorities: readonly string[] };
  readonly receipt: { readonly timeoutSeconds: number };
  readonly subscribers: readonly SubscriberTemplate[];
  readonly applicationProviders: readonly ({ readonly id: string } & Readonly<
    Added<Shapes['applicationProvider']>
  >)[];
  readonly oidc: {
    readonly tenants: readonly {
      readonly clients: readonly (OauthClient & Readonly<Added<Shapes['oauthClient']>>)[];
    }[];
  };
  readonly operations: Readonly<Added<Shapes['operations']>>;
  readonly queue: Readonly<Added<Shapes['queue']>>;
};

/** The rooms that exist before a process connects to Redis. */
export interface ServiceRooms<Shapes extends PartShapes = PartShapes> {
  readonly settings: PartSettings<Shapes>;
  /** The clock of the machine. */
  readonly now: () => number;
  readonly log: EventLog;
}

/** What a {@link KeyPlace} is opened with: before a process connects to Redis, and in commands. */
export interface KeyPlaceRooms<Shapes extends PartShapes = PartShapes> {
  readonly settings: PartSettings<Shapes>;
  /** `queue.prefix` */
  readonly prefix: string;
  /** Environment variables of parts, by name. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly log: Pick<EventLog, 'info'>;
  readonly onError: (error: Error) => void;
}

/** What a part may use wherever it runs. */
interface PartRooms<Shapes extends PartShapes> {
  readonly settings: PartSettings<Shapes>;
  readonly redis: RedisClient;
  /** The prefix of keys: `queue.prefix` in the configuration. */
  readonly prefix: string;
  readonly shards: readonly Shard[];
  /** The times for which ended transactions are kept. */
  readonly retention: { readonly signedMs: number; readonly failedMs: number };
  /** The directory of the configuration file; undefined for a command that reads no other files. */
  readonly directory: string | undefined;
  /** The directory of what is kept on this machine (PARAPH_DATA). It may not exist yet. */
  readonly dataDirectory: string | undefined;
  /** Environment variables of parts, by name. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The clock of Redis. */
  readonly now: () => number;
  readonly onError: (error: Error) => void;
  /** Brings what a device has answered. The first answer of an attempt counts. */
  readonly answer: Answer;
}

/** What a part may use to look up subscribers, over either connection to Redis. */
/** What a part is given for orders in bulk, which workers carry out. */
export type BulkRooms<Shapes extends PartShapes = PartShapes> = PartRooms<Shapes>;

export interface SubscriberRooms<Shapes extends PartShapes = PartShapes>
  extends Pick<PartRooms<Shapes>, 'settings' | 'redis' | 'prefix' | 'now'> {
  readonly serviceKey: Uint8Array;
  readonly revocationOf: KeyCustody['revocationOf'];
}

/** What a part may use before workers and API start, once Redis can be used. */
export interface StartRooms<Shapes extends PartShapes = PartShapes>
  extends Omit<PartRooms<Shapes>, 'shards' | 'answer'> {
  /** Closed by closeShards. */
  readonly openShards: () => readonly Shard[];
}

/** The rooms in a process with workers. Their connection waits for Redis without end. */
export interface WorkerRooms<Shapes extends PartShapes = PartShapes> extends PartRooms<Shapes> {
  /** The key with which data is sealed, and from which secrets are derived. */
  readonly serviceKey: Uint8Array;
  /** Finds a transaction like a status request does. */
  readonly find: FindTransaction;
  /** The certificate authority, and the keys of users. */
  readonly custody: KeyCustody;
  readonly linkTo: LinkTo;
  readonly log: EventLog;
  readonly registry: Registry;
  readonly telemetry: Telemetry | undefined;
}

/** What a part may use for jobs that run beside signatures and may ask for signatures. */
export interface WorkRooms<Shapes extends PartShapes = PartShapes> extends WorkerRooms<Shapes> {
  readonly tellers: Tellers;
  readonly protocol: Protocol;
  readonly providers: ApplicationProviders;
  readonly subscribers: SubscriberRegistry;
  readonly seals: Seals;
  /** The trust in other services that have devices. */
  readonly trust: OtherServices['trust'];
  readonly limiter: RateLimiter;
  /** Transactions that wait for a worker, and how many may. */
  readonly backlog: Pick<Backlog, 'size' | 'sizeOf' | 'added'>;
  readonly maxBacklog: { readonly ofOne: number; readonly inAll: number };
  /** Undefined where this process does not know it. */
  readonly publicUrl: () => string | undefined;
  /** The name of an application that people see. */
  readonly nameOf: (apId: string) => string;
}

/** What a part may use for its extension of the OpenID provider, in a process with the API. */
export interface OauthRooms<Shapes extends PartShapes = PartShapes>
  extends Pick<PartRooms<Shapes>, 'settings' | 'redis' | 'prefix'> {
  /** A connection that waits for Redis without end. */
  readonly blocking: RedisClient;
}

/** What a part may use in a process with the API. Its connection to Redis gives up soon. */
export interface ApiRooms<Shapes extends PartShapes = PartShapes>
  extends PartRooms<Shapes>,
    Pick<OauthDeps, 'addressOf' | 'body'> {
  /** Everything is sealed with it, or derived from it. */
  readonly serviceKey: Uint8Array;
  /** The address at which browsers reach this server. */
  readonly publicUrl: () => string;
  /** The address at which this server listens. */
  readonly selfUrl: () => string;
  /** The clock of this machine. */
  readonly hostNow: () => number;
  /** A connection that waits for Redis without end. */
  readonly blocking: RedisClient;
  /** The certificate authority, and the keys of users. */
  readonly custody: KeyCustody;
  readonly limiter: RateLimiter;
  /** The look of pages outside of a login. */
  readonly frame: () => Pick<PageFrame, 'tenantName' | 'branding' | 'path'>;
  /** The name of an application that people see. */
  readonly nameOf: (apId: string) => string;
  readonly joinLogin: JoinLogin;
  /** The options of `createApplicationRoute`, for routes that applications call. */
  readonly applications: ApplicationRouteOptions;
  /** Undefined for a transaction of another application. */
  readonly findOwn: (apId: string, msspTransId: string) => Promise<TransactionView | undefined>;
  readonly registry: Registry;
  readonly subscribers: SubscriberRegistry;
  /** The subscribers of the configuration and the sandbox alone. */
  readonly configured: ConfiguredSubscribers;
}

/** The rooms of the console, and of commands that run over the Redis of the service. */
export interface OperatorRooms<Shapes extends PartShapes = PartShapes> extends PartRooms<Shapes> {
  readonly audit: Audit;
  /** The subscribers of the configuration and the sandbox. */
  readonly configured: ConfiguredSubscribers;
  /** Tells the operator, in a sentence. */
  readonly warn: (sentence: string) => void;
}

/**
 * The address of a page of a part, about an instance; undefined where this process does not know it.
 */
export type LinkTo = (about: string, version: number) => string | undefined;
