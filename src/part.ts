/**
 * A part: a feature in one folder under `parts/`, with one object that lists its members. The
 * product loops over its list of parts (parts/parts.ts; parts/configuration.ts for those that add
 * to the configuration); no other file names a part. A part that is removed from the lists leaves
 * nothing behind.
 *
 * There is no container and no life cycle beyond start and close: the members of a part that a
 * process needs are opened or started once, with the rooms of the core that exist there anyway. A
 * part imports modules that a process may not need, such as pages in a worker, only when it opens
 * that member.
 */
import type { Telemetry } from 'bullmq';
import type { z } from 'zod';
import type { OpenWork } from '../workers/workers.ts';
import type { PartCommands } from './command-line/part-commands.ts';
import type { ConsolePart } from './console/part.ts';
import type { AppOptions } from './http/app.ts';
import type { ApplicationRouteOptions } from './http/application-route.ts';
import type { DescribedPart } from './http/documentation/described-part.ts';
import type { Entrance } from './http/documentation.route.ts';
import type { HealthCheck } from './http/health.route.ts';
import type { EventLog } from './logger.ts';
import type { OauthDeps } from './oauth/deps.ts';
import type { DeviceStart, JoinLogin } from './oauth/interaction/device-start.ts';
import type { Audit } from './operators/audit.ts';
import type { Tellers } from './outgoing/tellers.ts';
import type { PageFrame } from './pages/assets.ts';
import type { Pointers } from './pki/extensions.ts';
import type { KeyCustody, KeyVault } from './pki/ports.ts';
import type { Protocol } from './protocol/parse.ts';
import type { RedisClient } from './redis/connect.ts';
import type { ApplicationProviders } from './registry/application-providers.ts';
import type { OauthClient } from './registry/oauth-client.ts';
import type { OtherServices } from './registry/other-services.ts';
import type { RateLimiter } from './registry/rate-limiter.ts';
import type {
  CompleteSubscriber,
  PartDeviceSchema,
  SubscriberRegistry,
  SubscriberTemplate,
} from './registry/subscriber.ts';
import type { MakeDevice } from './sscd/devices.ts';
import type { Registry } from './telemetry/registry.ts';
import type { Answer } from './transactions/answers.ts';
import type { Backlog } from './transactions/backlog.ts';
import type { TransactionView } from './transactions/outcomes.ts';
import type { Seals } from './transactions/seal.ts';
import type { Shard } from './transactions/shards.ts';
import type { FindTransaction } from './transactions/transactions.ts';

/** Members that a part adds to the configuration file, by their place there. */
export interface PartShapes {
  readonly root?: z.ZodRawShape;
  /** Members of each entry of `applicationProviders`. */
  readonly applicationProvider?: z.ZodRawShape;
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

export interface PartServices extends OtherServices {
  /** Makes the devices of workers. */
  devices(shards: readonly Shard[]): MakeDevice;
  close(): void;
}

/** For where private keys are: before a process connects to Redis, and for commands. */
export interface KeyPlaceRooms<Shapes extends PartShapes = PartShapes> {
  readonly settings: PartSettings<Shapes>;
  /** `queue.prefix` */
  readonly prefix: string;
  /** Environment variables of parts, by name. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly log: Pick<EventLog, 'info'>;
  readonly onError: (error: Error) => void;
}

/** Where private keys are made and used, when that is not this process. */
export interface KeyPlace {
  /** @param waitMs How long a caller waits while the place is away. Default: as configured. */
  vault(waitMs?: number): KeyVault;
  /** Before a service needs the first key. @throws PartSetupError */
  open(): Promise<void>;
  /** For `/readyz`. */
  readonly checks: readonly HealthCheck[];
  close(): Promise<void>;
}

/** A part cannot be used as it is configured. The message is a sentence for operators. */
export class PartSetupError extends Error {}

/** What a part may use wherever it runs. */
interface PartRooms<Shapes extends PartShapes> {
  readonly settings: PartSettings<Shapes>;
  readonly redis: RedisClient;
  /** The prefix of keys: `queue.prefix` in the configuration. */
  readonly prefix: string;
  readonly shards: readonly Shard[];
  /** How long what has ended is kept. */
  readonly retention: { readonly signedMs: number; readonly failedMs: number };
  /** Where the configuration file lies; undefined for a command that reads no other files. */
  readonly directory: string | undefined;
  /** The clock of Redis. */
  readonly now: () => number;
  readonly onError: (error: Error) => void;
  /** Brings what a device has answered. The first answer of an attempt counts. */
  readonly answer: Answer;
}

/** For look-ups of subscribers, on either connection. */
export interface SubscriberRooms<Shapes extends PartShapes = PartShapes>
  extends Pick<PartRooms<Shapes>, 'settings' | 'redis' | 'prefix' | 'now'> {
  readonly serviceKey: Uint8Array;
  readonly revocationOf: KeyCustody['revocationOf'];
}

/** Before workers and API start, when Redis can be used. */
export interface StartRooms<Shapes extends PartShapes = PartShapes>
  extends Omit<PartRooms<Shapes>, 'shards' | 'answer'> {
  /** Closed by closeShards. */
  readonly openShards: () => readonly Shard[];
}

/** The rooms in a process with workers. Their connection waits for Redis without end. */
export interface WorkerRooms<Shapes extends PartShapes = PartShapes> extends PartRooms<Shapes> {
  /** The key with which data is sealed, and from which secrets are derived. */
  readonly serviceKey: Uint8Array;
  /** As for a status request. */
  readonly find: FindTransaction;
  readonly linkTo: LinkTo;
  readonly log: EventLog;
  readonly registry: Registry;
  readonly telemetry: Telemetry | undefined;
}

/** The same, for jobs that run beside signatures, and may ask for some. */
export interface WorkRooms<Shapes extends PartShapes = PartShapes> extends WorkerRooms<Shapes> {
  readonly tellers: Tellers;
  readonly protocol: Protocol;
  readonly providers: ApplicationProviders;
  readonly subscribers: SubscriberRegistry;
  readonly seals: Seals;
  readonly custody: KeyCustody;
  /** Of other services at which devices are. */
  readonly trust: OtherServices['trust'];
  readonly limiter: RateLimiter;
  /** Transactions that wait for a worker, and how many may. */
  readonly backlog: Pick<Backlog, 'size' | 'sizeOf' | 'added'>;
  readonly maxBacklog: { readonly ofOne: number; readonly inAll: number };
  /** Undefined where this process does not know it. */
  readonly publicUrl: () => string | undefined;
  /** How people know an application. */
  readonly nameOf: (apId: string) => string;
}

/** In a process with the API, on a connection that gives up soon. */
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
  /** How pages outside of a login look. */
  readonly frame: () => Pick<PageFrame, 'tenantName' | 'branding' | 'path'>;
  /** How people know an application. */
  readonly nameOf: (apId: string) => string;
  readonly joinLogin: JoinLogin;
  /** For routes that applications call: `createApplicationRoute`. */
  readonly applications: ApplicationRouteOptions;
  /** Undefined for a transaction of another application. */
  readonly findOwn: (apId: string, msspTransId: string) => Promise<TransactionView | undefined>;
  readonly subscribers: SubscriberRegistry;
}

/** The rooms of the console, and of commands that run over the Redis of the service. */
export interface OperatorRooms<Shapes extends PartShapes = PartShapes> extends PartRooms<Shapes> {
  readonly audit: Audit;
  /** Tells the operator, in a sentence. */
  readonly warn: (sentence: string) => void;
}

export interface PartConfiguration<Shapes extends PartShapes = PartShapes> {
  readonly shapes: Shapes;
  /** Kinds of the `device` of a SIM or an App. */
  readonly devices?: readonly PartDeviceSchema[];
  /** Environment variables that it reads, and what docs/configuration.md says of each. */
  readonly variables?: Readonly<Record<`PARAPH_${string}`, string>>;
  /**
   * Checks rules about parsed values that a schema cannot express.
   *
   * @param refuse Reports an error: the path from the root of the file, and the expectation there.
   */
  check?(
    settings: PartSettings<Shapes>,
    refuse: (path: PropertyKey[], expected: string) => void,
  ): void;
}

export interface ApiPart {
  readonly routes: AppOptions['more'][number];
  /** Where people begin with it. */
  readonly entrance?: Entrance;
  /** Lets devices begin the logins of browsers: of one part at most. */
  readonly deviceStart?: DeviceStart;
  /** Lines for the person who starts a service of their own. They may hold a link to log in. */
  greet?(): Promise<readonly string[]>;
  /** Answers callers who wait, because the process stops. Safe to call again. */
  endWaiting?(): Promise<void>;
}

export interface Running {
  close(): Promise<void>;
}

export interface RunningDevices extends Running {
  readonly make: MakeDevice;
}

/**
 * The address of a page of a part, about an instance; undefined where this process does not know it.
 */
export type LinkTo = (about: string, version: number) => string | undefined;

export interface Part<Shapes extends PartShapes = PartShapes> {
  /** The name, which is that of its folder. */
  readonly name: string;
  /** Its configuration. It must also be in parts/configuration.ts, which is loaded first. */
  readonly configuration?: PartConfiguration<Shapes>;
  /** The names of its queues in each shard (queueOf in transactions/shards.ts). */
  readonly queues?: readonly string[];
  /** Its own slots in Redis: `told` for keys that begin with `{<prefix>-told}`. */
  readonly slots?: readonly string[];
  /** The names of its actions in the audit log. */
  readonly auditActions?: readonly string[];
  /**
   * Connects to other services that have devices of subscribers.
   * @throws For a file that is not usable.
   */
  openServices?(rooms: ServiceRooms<Shapes>): Promise<PartServices>;
  /** Numbers of the sandbox, and what they do. */
  readonly sandboxNumbers?: readonly (readonly [msisdn: string, does: string])[];
  /** Finds subscribers with what it keeps of them. */
  openSubscribers?(rooms: SubscriberRooms<Shapes>): CompleteSubscriber;
  /** Its devices, in a process with workers. */
  openDevices?(rooms: WorkerRooms<Shapes>): Promise<RunningDevices>;
  /**
   * Where private keys are: the first part that has a place counts, otherwise they are in this
   * process.
   *
   * @returns Undefined where the configuration names no place.
   */
  openKeyPlace?(rooms: KeyPlaceRooms<Shapes>): Promise<KeyPlace | undefined>;
  /**
   * Where new certificates say that an authority publishes: of one part at most.
   *
   * @returns Takes the id of an authority, `issuing-1`.
   */
  pointers?(settings: PartSettings<Shapes>): (authority: string) => Pointers | undefined;
  /** Its addresses, for the OpenAPI document. */
  describe?(): Promise<DescribedPart>;
  /**
   * Reads the files that its configuration names.
   * @returns What is wrong with them, as the operator reads it.
   */
  readFiles?(settings: PartSettings<Shapes>, directory: string): Promise<string | undefined>;
  /** @returns Why the service must not start, as the operator reads it. */
  beforeStart?(rooms: StartRooms<Shapes>): Promise<string | undefined>;
  /** First segments of the paths of its routes, as metrics and traces name them. */
  readonly areas?: readonly string[];
  /** Clients of the first OpenID tenant. A client of the file with the same id replaces one. */
  oauthClients?(settings: PartSettings<Shapes>, publicUrl: string): readonly OauthClient[];
  /** @returns Undefined when the configuration disables it. */
  openApi?(rooms: ApiRooms<Shapes>): Promise<ApiPart | undefined>;
  /** Starts the work of the part in a process with workers. */
  startWorkers?(rooms: WorkerRooms<Shapes>): Promise<Running>;
  /** Jobs that it runs beside signatures, in the same fair order. */
  openWork?(rooms: WorkRooms<Shapes>): Promise<OpenWork>;
  /** Links to its pages, for what others tell of it: of one part at most. */
  openLinks?(serviceKey: Uint8Array, publicUrl: () => string | undefined): LinkTo;
  /** Tells applications how workflows go on: of one part at most. */
  openTellers?(rooms: WorkerRooms<Shapes>): Promise<Tellers>;
  openConsole?(rooms: OperatorRooms<Shapes>): Promise<ConsolePart>;
  readonly commands?: PartCommands;
}

/** Gives a part's configuration its types. */
export const defineConfiguration = <const Shapes extends PartShapes>(
  configuration: PartConfiguration<Shapes>,
): PartConfiguration<Shapes> => configuration;

/** Gives the members of a part their types. */
export const definePart = <const Shapes extends PartShapes>(part: Part<Shapes>): Part<Shapes> =>
  part;
