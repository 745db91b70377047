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
import type { Hono } from 'hono';
import type { z } from 'zod';
import type { Locate } from '../packages/engine/src/engine.ts';
import type { WorkflowTellers } from '../workers/workflow-work.ts';
import type { PartCommands } from './command-line/part-commands.ts';
import type { ConsolePart } from './console/part.ts';
import type { Entrance } from './http/documentation.route.ts';
import type { EventLog } from './logger.ts';
import type { Audit } from './operators/audit.ts';
import type { RedisClient } from './redis/connect.ts';
import type { OauthClient } from './registry/oauth-client.ts';
import type { OtherServices } from './registry/other-services.ts';
import type { SubscriberTemplate, UpstreamDeviceSchema } from './registry/subscriber.ts';
import type { MakeDevice } from './sscd/devices.ts';
import type { Registry } from './telemetry/registry.ts';
import type { Shard } from './transactions/shards.ts';
import type { FindTransaction } from './transactions/transactions.ts';

/** Members that a part adds to the configuration file, by their place there. */
export interface PartShapes {
  readonly root?: z.ZodRawShape;
  /** Members of each entry of `applicationProviders`. */
  readonly applicationProvider?: z.ZodRawShape;
  readonly operations?: z.ZodRawShape;
}

type Added<Shape> = Shape extends z.ZodRawShape ? z.output<z.ZodObject<Shape>> : unknown;

/** The configuration with the members of a part. */
export type PartSettings<Shapes extends PartShapes = PartShapes> = Readonly<
  Added<Shapes['root']>
> & {
  readonly sandbox: boolean;
  readonly subscribers: readonly SubscriberTemplate[];
  readonly applicationProviders: readonly ({ readonly id: string } & Readonly<
    Added<Shapes['applicationProvider']>
  >)[];
  readonly operations: Readonly<Added<Shapes['operations']>>;
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

/** The rooms that a part may use in every process. */
interface PartRooms<Shapes extends PartShapes> {
  readonly settings: PartSettings<Shapes>;
  readonly redis: RedisClient;
  /** The prefix of keys: `queue.prefix` in the configuration. */
  readonly prefix: string;
  readonly shards: readonly Shard[];
  /** The clock of Redis. */
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

/** The rooms in a process with workers. Their connection waits for Redis without end. */
export interface WorkerRooms<Shapes extends PartShapes = PartShapes> extends PartRooms<Shapes> {
  /** The key with which data is sealed, and from which secrets are derived. */
  readonly serviceKey: Uint8Array;
  readonly retention: { readonly failedMs: number };
  /** Finds a transaction like a status request. */
  readonly find: FindTransaction;
  /** Finds the queue of an instance of a workflow. */
  readonly locate: Locate;
  /** The address of a signer's page; undefined when this process does not know it. */
  readonly linkTo: (signer: string, linkVersion: number) => string | undefined;
  readonly log: EventLog;
  readonly registry: Registry;
  readonly telemetry: Telemetry | undefined;
}

/** The rooms in a process with the API. Their connection gives up within a second. */
export interface ApiRooms<Shapes extends PartShapes = PartShapes> extends PartRooms<Shapes> {
  /** The key with which data is sealed, and from which secrets are derived. */
  readonly serviceKey: Uint8Array;
  /** The address at which browsers reach this server. */
  readonly publicUrl: () => string;
  /** The address at which this server listens. */
  readonly selfUrl: () => string;
  /** The clock of this machine. */
  readonly hostNow: () => number;
}

/** The rooms of the console, and of commands that run over the Redis of the service. */
export interface OperatorRooms<Shapes extends PartShapes = PartShapes> extends PartRooms<Shapes> {
  readonly audit: Audit;
}

export interface PartConfiguration<Shapes extends PartShapes = PartShapes> {
  readonly shapes: Shapes;
  /** Kinds of the `device` of a SIM or an App. */
  readonly devices?: readonly UpstreamDeviceSchema[];
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
  readonly routes: Hono;
  /** The start page of the part. */
  readonly entrance?: Entrance;
}

export interface Running {
  close(): Promise<void>;
}

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
  /** The first segments of the paths of its routes, which metrics and traces name. */
  readonly areas?: readonly string[];
  /** Clients of the first OpenID tenant. A client of the file with the same id replaces one. */
  oauthClients?(settings: PartSettings<Shapes>, publicUrl: string): readonly OauthClient[];
  /** @returns Undefined when the configuration disables it. */
  openApi?(rooms: ApiRooms<Shapes>): Promise<ApiPart | undefined>;
  /** Starts the work of the part in a process with workers. */
  startWorkers?(rooms: WorkerRooms<Shapes>): Promise<Running>;
  /**
   * Opens the functions that tell applications about events in workflows. At most one part has
   * them. Called before workers start.
   */
  openTellers?(rooms: WorkerRooms<Shapes>): Promise<WorkflowTellers>;
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
