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

import type { Pointers } from '../../packages/pki/src/extensions.ts';
import type { OpenWork } from '../../workers/workers.ts';
import type { PartCommands } from '../command-line/part-commands.ts';
import type { BulkWork } from '../console/operators/bulk-list.ts';
import type { ConsolePart } from '../console/part.ts';
import type { DescribedPart } from '../http/documentation/described-part.ts';
import type { Tellers } from '../http/outgoing/tellers.ts';
import type { OauthPart } from '../oauth/extension.ts';
import type { OauthClient } from '../registry/oauth-client.ts';
import type { CompleteSubscriber, PartDeviceSchema } from '../registry/subscriber.ts';
import type { ApiPart, KeyPlace, PartServices, Running, RunningDevices } from './opened.ts';
import type {
  ApiRooms,
  BulkRooms,
  KeyPlaceRooms,
  LinkTo,
  OauthRooms,
  OperatorRooms,
  PartSettings,
  PartShapes,
  ServiceRooms,
  StartRooms,
  SubscriberRooms,
  WorkerRooms,
  WorkRooms,
} from './rooms.ts';

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

export interface Part<Shapes extends PartShapes = PartShapes> {
  /** The name, which is that of its folder. */
  readonly name: string;
  /**
   * The names of the parts without which this one does not work. They stand before it in the list.
   * It imports their `index.ts`, and nothing else of another part.
   */
  readonly needs?: readonly string[];
  /** What it brings to parts that it needs, by their names. Their `index.ts` has the type. */
  readonly brings?: Readonly<Record<string, unknown>>;
  /** @returns This part with what others bring to it (linkParts in link.ts). */
  receive?(brought: readonly unknown[]): Part;
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
  /** What it adds to the OpenID provider. */
  readonly oauth?: OauthPart<OauthRooms<Shapes>>;
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
  /** What is done to items of its lists in bulk (`bulk` of its console), in a process with workers. */
  openBulk?(rooms: BulkRooms<Shapes>): Promise<BulkWork>;
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
