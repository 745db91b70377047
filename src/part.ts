/**
 * A part: a feature that stands in one folder under `parts/`, and one object that says what it
 * brings. The product loops over its list of parts (parts/parts.ts; parts/configuration.ts for
 * those that add to the configuration); no other file names one. A part that is taken from the
 * lists leaves nothing behind.
 *
 * There is no container and no life cycle beyond start and close: what a process needs of a part is
 * opened or started once, with the rooms of the core that exist there anyway. What a process may
 * never need, such as pages in a worker, a part imports when it is asked for it.
 */
import type { IncomingMessage } from 'node:http';
import type { Telemetry } from 'bullmq';
import type { Hono } from 'hono';
import type { z } from 'zod';
import type { OpenWork } from '../workers/workers.ts';
import type { PartCommands } from './command-line/part-commands.ts';
import type { ConsolePart } from './console/part.ts';
import type { ApplicationRouteOptions } from './http/application-route.ts';
import type { DescribedPart } from './http/documentation/described-part.ts';
import type { Entrance } from './http/documentation.route.ts';
import type { EventLog } from './logger.ts';
import type { Audit } from './operators/audit.ts';
import type { Tellers } from './outgoing/tellers.ts';
import type { PageFrame } from './pages/assets.ts';
import type { KeyCustody } from './pki/ports.ts';
import type { Protocol } from './protocol/parse.ts';
import type { RedisClient } from './redis/connect.ts';
import type { ApplicationProviders } from './registry/application-providers.ts';
import type { OauthClient } from './registry/oauth-client.ts';
import type { OtherServices } from './registry/other-services.ts';
import type { RateLimiter, Source } from './registry/rate-limiter.ts';
import type {
  SubscriberRegistry,
  SubscriberTemplate,
  UpstreamDeviceSchema,
} from './registry/subscriber.ts';
import type { MakeDevice } from './sscd/devices.ts';
import type { Registry } from './telemetry/registry.ts';
import type { Backlog } from './transactions/backlog.ts';
import type { Seals } from './transactions/seal.ts';
import type { Shard } from './transactions/shards.ts';
import type { FindTransaction } from './transactions/transactions.ts';

/** Members that a part adds to those of the core, by where they stand in the configuration file. */
export interface PartShapes {
  readonly root?: z.ZodRawShape;
  /** Of each entry of `applicationProviders`. */
  readonly applicationProvider?: z.ZodRawShape;
  readonly operations?: z.ZodRawShape;
  readonly queue?: z.ZodRawShape;
}

type Added<Shape> = Shape extends z.ZodRawShape ? z.output<z.ZodObject<Shape>> : unknown;

/** The configuration as a part sees it. */
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

/** Before a process connects to Redis. */
export interface ServiceRooms<Shapes extends PartShapes = PartShapes> {
  readonly settings: PartSettings<Shapes>;
  /** The clock of the machine. */
  readonly now: () => number;
  readonly log: EventLog;
}

export interface PartServices extends OtherServices {
  /** For workers. */
  devices(shards: readonly Shard[]): MakeDevice;
  close(): void;
}

/** What a part may use wherever it runs. */
interface PartRooms<Shapes extends PartShapes> {
  readonly settings: PartSettings<Shapes>;
  readonly redis: RedisClient;
  /** `queue.prefix` */
  readonly prefix: string;
  readonly shards: readonly Shard[];
  /** How long what has ended is kept. */
  readonly retention: { readonly signedMs: number; readonly failedMs: number };
  /** Where the configuration file lies; undefined for a command that reads no other files. */
  readonly directory: string | undefined;
  /** The clock of Redis. */
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

/** Before workers and API start, when Redis can be used. */
export interface StartRooms<Shapes extends PartShapes = PartShapes>
  extends Omit<PartRooms<Shapes>, 'shards'> {
  /** Closed by closeShards. */
  readonly openShards: () => readonly Shard[];
}

/** In a process with workers, on a connection that waits for Redis without end. */
export interface WorkerRooms<Shapes extends PartShapes = PartShapes> extends PartRooms<Shapes> {
  /** Everything is sealed with it, or derived from it. */
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
export interface ApiRooms<Shapes extends PartShapes = PartShapes> extends PartRooms<Shapes> {
  /** Everything is sealed with it, or derived from it. */
  readonly serviceKey: Uint8Array;
  /** Where browsers reach this server. */
  readonly publicUrl: () => string;
  /** Where it listens. */
  readonly selfUrl: () => string;
  /** The clock of this machine. */
  readonly hostNow: () => number;
  /** For routes of applications (http/application-route.ts). */
  readonly application: ApplicationRouteOptions;
  readonly subscribers: SubscriberRegistry;
  readonly limiter: RateLimiter;
  readonly addressOf: (incoming: IncomingMessage | undefined) => Source;
  /** How people know an application. */
  readonly nameOf: (apId: string) => string;
  /** How pages for people look. */
  readonly frame: () => Pick<PageFrame, 'tenantName' | 'branding' | 'path'>;
}

/** For the console, and for commands that run over the Redis of the service. */
export interface OperatorRooms<Shapes extends PartShapes = PartShapes> extends PartRooms<Shapes> {
  readonly audit: Audit;
  /** Tells the operator, in a sentence. */
  readonly warn: (sentence: string) => void;
}

export interface PartConfiguration<Shapes extends PartShapes = PartShapes> {
  readonly shapes: Shapes;
  /** Kinds of the `device` of a SIM or an App. */
  readonly devices?: readonly UpstreamDeviceSchema[];
  /**
   * What the schema cannot say of the values that it has read.
   *
   * @param refuse Path from the root of the file, and what is expected there.
   */
  check?(
    settings: PartSettings<Shapes>,
    refuse: (path: PropertyKey[], expected: string) => void,
  ): void;
}

export interface ApiPart {
  readonly routes: Hono;
  /** Where people begin with it. */
  readonly entrance?: Entrance;
  /** Answers callers who wait: the process stops. */
  endWaiting?(): void;
}

export interface Running {
  close(): Promise<void>;
}

/**
 * The address of a page of a part, about an instance; undefined where this process does not know it.
 */
export type LinkTo = (about: string, version: number) => string | undefined;

/** A file of the part is not usable. The message is for the operator, without its full stop. */
export class PartFileError extends Error {}

export interface Part<Shapes extends PartShapes = PartShapes> {
  /** As its folder. */
  readonly name: string;
  /** It stands in the list of parts/configuration.ts, too, which loads before anything else. */
  readonly configuration?: PartConfiguration<Shapes>;
  /** Queues that it has in each shard (queueOf in transactions/shards.ts). */
  readonly queues?: readonly string[];
  /** Slots of its own in Redis: `told` for keys that begin with `{<prefix>-told}`. */
  readonly slots?: readonly string[];
  /** What operators do through it, as the audit log names it. */
  readonly auditActions?: readonly string[];
  /**
   * Connects to other services at which devices of subscribers are.
   * @throws For a file that is not usable.
   */
  openServices?(rooms: ServiceRooms<Shapes>): Promise<PartServices>;
  /**
   * Reads the files that its configuration names.
   * @returns What is wrong with them, as the operator reads it.
   */
  readFiles?(settings: PartSettings<Shapes>, directory: string): Promise<string | undefined>;
  /** @returns Why the service must not start, as the operator reads it. */
  beforeStart?(rooms: StartRooms<Shapes>): Promise<string | undefined>;
  /** First segments of the paths of its routes, as metrics and traces name them. */
  readonly areas?: readonly string[];
  /** Clients of the first OpenID tenant. One of the file with the same id takes its place. */
  oauthClients?(settings: PartSettings<Shapes>, publicUrl: string): readonly OauthClient[];
  /** What the OpenAPI document says of its routes. */
  describe?(): Promise<DescribedPart>;
  /** @returns Undefined where the configuration has it off. */
  openApi?(rooms: ApiRooms<Shapes>): Promise<ApiPart | undefined>;
  /** Starts what workers do for it beside the core. */
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
