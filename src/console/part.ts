/** The members of a part for the console and its API. */
import type { Hono } from 'hono';
import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import type { AnyFields } from '../transactions/history/fields.ts';
import type { TransactionRow } from '../transactions/history/row.ts';
import type { BoardQueue, Flow } from './board/board-part.ts';
import type { BulkFace } from './bulk-face.ts';
import type { AdminApiDeps, ConsoleEnvironment, ConsoleSession } from './deps.ts';
import type { NumberName } from './operators/number-names.ts';
import type { NumberOwners } from './operators/number-owners.ts';
import type { Role } from './operators/operator.ts';
import type { Html, Tile } from './pages/markup.ts';

/** A group of the navigation. If a user may see only one of its sections, it is a link to it. */
export type Group = 'Overview' | 'Transactions' | 'Workflows' | 'Service' | 'People';

/** An entry of the navigation. */
export type Section = readonly [
  name: string,
  path: string,
  label: string,
  role: Role,
  group: Group,
];

/** A result that a page shows after a redirect: its kind, its title and a sentence. */
export type NoticeText = readonly [kind: 'good' | 'bad', title: string, text: string];

/** The contents of every page. */
export interface Frame {
  readonly sections: readonly Section[];
  /** Notices, by their name in the address. */
  readonly notices: Readonly<Record<string, NoticeText>>;
  /**
   * Actions of the audit log, each with its words in a timeline and the kind of page about its
   * target.
   */
  readonly actions: Readonly<Record<string, ActionWords>>;
}

export interface ActionWords {
  readonly words?: string;
  readonly target?: 'transactions' | 'workflows' | 'replays';
}

/** Something that needs a person. The overview shows it first, in one line. */
export interface Need {
  /** Its name for programs: `callbacks-dead`. */
  readonly kind: string;
  /** The number of what `text` names. */
  readonly count: number;
  /** What it is, with the number: `3 callbacks are dead`. */
  readonly text: string;
  /** Path and query of the page where it is mended. */
  readonly page: string;
  /** Who may open that page. Default: everybody. */
  readonly role?: Role;
}

/** What the service key opens. */
export interface SecretRooms {
  readonly serviceKey: Uint8Array;
  /** Names of numbers in the audit log. */
  readonly numberName: NumberName;
  readonly custody: KeyCustody;
  /**
   * The address at which browsers reach the service; undefined if this process does not know it.
   */
  readonly publicUrl: () => Promise<string | undefined>;
}

/** What a part brings that is sealed with the service key, or derived from it. */
export interface SecretPart {
  /**
   * Pages below `/admin`, and operations below `/admin/api`.
   *
   * @param owners The {@link NumberOwners} of all parts.
   */
  routes?(deps: AdminApiDeps, owners: readonly NumberOwners[]): Hono<ConsoleEnvironment>;
  /** The data that the part keeps for the owner of a number. */
  readonly owners?: NumberOwners;
  /** What needs a person, like `needs` of a {@link ConsolePart}. */
  needs?(): Promise<readonly Need[]>;
}

export interface ConsolePart extends Frame {
  /** Pages below `/admin`, and operations below `/admin/api`. */
  routes?(deps: AdminApiDeps): Hono<ConsoleEnvironment>;
  openSecrets?(rooms: SecretRooms): SecretPart;
  /** The fields of the filters of its lists, by the names of the lists. People save such filters. */
  readonly lists?: Readonly<Record<string, AnyFields>>;
  /** Its lists whose items operators give orders to in bulk. Workers need `openBulk` of the part. */
  readonly bulk?: readonly BulkFace[];
  /** A few words about each operation for the OpenAPI document; by `GET /callbacks`. */
  readonly words: Readonly<Record<string, string>>;
  /** Members of the overview of the API, and a tile of its page. */
  overview?(): Promise<{ readonly told: object; readonly tile: Tile }>;
  /** What of it needs a person now; empty when nothing does. */
  needs?(): Promise<readonly Need[]>;
  /** A section on the page of a transaction, with the name of its region for updates. */
  ofTransaction?(
    session: ConsoleSession,
    transaction: Pick<TransactionRow, 'msspTransId' | 'apId' | 'attempt'>,
  ): Promise<{ readonly name: string; readonly html: Html }>;
  /** What the queue board needs to show the part's queues; by the name of the queue. */
  readonly board?: Readonly<Record<string, BoardQueue>>;
  /**
   * Parents and children of a job, for the queue board: of one part at most.
   * @param id The id of a job of any queue.
   */
  flowOf?(id: string): Promise<Flow>;
  /** What `aps` shows of an application. */
  ofProvider?(apId: string): Readonly<Record<string, string | undefined>>;
}

export const frameOf = (parts: readonly Frame[]): Frame => ({
  sections: parts.flatMap(({ sections }) => sections),
  notices: Object.assign({}, ...parts.map(({ notices }) => notices)),
  actions: Object.assign({}, ...parts.map(({ actions }) => actions)),
});
