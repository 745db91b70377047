/**
 * What another part brings to this one, when it has workflows of its own (`brings` in
 * src/part/part.ts). They run, are listed, shown and ordered like charts of operators. Here stands
 * where they differ.
 */
import type { Command } from 'commander';
import type { Hono } from 'hono';
import type { AnyActorLogic } from 'xstate';
import type { Gate, Workflow } from '../../packages/engine/src/define.ts';
import type { Engine, Instance } from '../../packages/engine/src/engine.ts';
import type { CliContext, Done } from '../../src/command-line/context.ts';
import type { Field } from '../../src/command-line/screen.ts';
import type { ConsoleEnvironment, ConsoleSession } from '../../src/console/deps.ts';
import type { Html } from '../../src/console/pages/markup.ts';
import type { ConsolePart } from '../../src/console/part.ts';
import type { ApiRooms, OperatorRooms, PartShapes, WorkRooms } from '../../src/part/rooms.ts';
import type { SubscriberRegistry } from '../../src/registry/subscriber.ts';
import type { Child, WorkflowEvent } from './console/workflow-detail.ts';
import type { WorkflowOrders } from './console/workflow-orders.ts';
import type { WorkflowView } from './instances/workflows.ts';
import type { Mailer } from './mail.ts';

/** A workflow as the service runs it. A chart of an operator has none of these members. */
export interface ServiceWorkflow extends Workflow {
  /**
   * Checks the input of a new instance by what lies in Redis: before it is started over HTTP, and
   * before the first turn of one that another program has added.
   *
   * @param about.apId Whose instance it is.
   * @param about.now Milliseconds since the epoch: when it was added.
   * @returns What is wrong; undefined also for an input that is not usable for another reason.
   */
  readonly checkInput?: (
    input: unknown,
    about: { readonly apId: string; readonly now: number } & Pick<SubscriberRegistry, 'find'>,
  ) => Promise<string | undefined>;
  /** What an instance that was not stopped has come to. Default: the output of its chart. */
  readonly outputOf?: (context: unknown) => unknown;
  /** Whether its own effects tell the application of its end. */
  readonly tellsEnd?: boolean;
}

/**
 * What a part says of its workflows in the OpenAPI document: clauses that continue sentences about
 * all of them.
 */
export interface HostedWords {
  /** What they are, in the plural: `signature processes`. */
  readonly kinds: string;
  /** `, such as a signature process` */
  readonly start: string;
  /** The name in the path, in backquotes: `process`. */
  readonly names: string;
  readonly input: string;
  readonly context: string;
  readonly output: string;
  readonly examples: {
    readonly start: { readonly summary: string; readonly value: object };
    readonly event: { readonly summary: string; readonly value: object };
    /** The names of the requests' schemas. */
    readonly as: { readonly start: string; readonly event: string };
  };
}

/**
 * Context and output of a view as HTTP shows them.
 *
 * @param instance Where this instance alone was asked for, and it is open.
 */
export type Present = (
  view: WorkflowView,
  instance?: Instance,
) => Pick<WorkflowView, 'context' | 'output'>;

/** Charts of files as the service runs them, or what is wrong with them. */
export type LoadedCharts =
  | { readonly ok: true; readonly value: readonly Workflow[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** In any process that has the instances. */
export type HostedRooms<Shapes extends PartShapes = PartShapes> = Pick<
  ApiRooms<Shapes>,
  'settings' | 'redis' | 'prefix' | 'now'
>;

/** In a process with workers. */
export interface HostedWorkRooms<Shapes extends PartShapes = PartShapes> extends WorkRooms<Shapes> {
  /** Finds and starts instances of workflows. */
  readonly engine: Engine;
  /** Undefined where no mail server is configured. */
  readonly mailer: Mailer | undefined;
  /** The gate of mails, for activities that send some. */
  readonly mailGate: Gate;
}

export interface HostedWork {
  readonly workflows: readonly ServiceWorkflow[];
  /** Activities that their charts name. */
  readonly activities: Readonly<Record<string, AnyActorLogic>>;
}

/** What pages and the admin API show of an instance beyond what they show of any. */
export interface HostedDetail {
  /** Members of the answer of the API. */
  readonly told: object;
  readonly events: readonly WorkflowEvent[];
  /** How an event of its own is marked: as one that is good, or bad. Default: neither. */
  kindOf(what: string): 'signed' | 'failed' | undefined;
  /** In place of the published context. */
  section(page: HostedPage): Html;
}

export interface HostedPage {
  /** The path of the instance's page: `/admin/workflows/…`. */
  readonly path: string;
  readonly session: ConsoleSession;
  /** Whether the operator may give it orders. */
  readonly mayOrder: boolean;
}

/** In the console; its notices and actions are those of all its pages. */
export interface HostedConsole extends Pick<ConsolePart, 'notices' | 'actions' | 'words'> {
  /** Orders of its own: pages below `/admin/workflows/:id`, and operations of the API. */
  routes(orders: WorkflowOrders): Hono<ConsoleEnvironment>;
  /**
   * @param children That have not ended.
   * @param isSeen Whether names and words of people may be shown.
   * @returns Undefined for an instance of another workflow.
   */
  detailOf(
    instance: Instance,
    children: readonly Child[],
    isSeen: boolean,
  ): Promise<HostedDetail | undefined>;
  /** MSSP_TransIDs that an instance has kept. */
  keptBy(instance: Instance): readonly string[];
}

/** Charts in files, for commands. */
export interface ChartFiles {
  /** @param path Absolute. @returns The problems begin with `workflows[0]: `. */
  load(path: string): Promise<LoadedCharts>;
  /** @returns Makes of a chart of one's own what the service runs. */
  asServed(): Promise<(workflow: Workflow) => Workflow>;
}

/** All that a part brings. One that has no workflows brings commands alone. */
export interface HostedWorkflows<Shapes extends PartShapes = PartShapes> {
  /** Their names. No chart of an operator may have one of them. */
  readonly names?: readonly string[];
  /** Those whose instances neither applications nor lists see: there may be thousands. */
  readonly hidden?: readonly string[];
  /**
   * The name of their activity that asks for signatures (`SignAsk`). Its input names the
   * application, it is answered `limited` while the number has had its prompts, and what proves a
   * signature is part of the answer.
   */
  readonly signs?: string;
  readonly words?: HostedWords;
  /** Those that applications start, for programs that run no turns. */
  open?(rooms: HostedRooms<Shapes>): Promise<readonly ServiceWorkflow[]>;
  /** How HTTP shows their instances, by the name of the workflow. */
  openPresent?(rooms: ApiRooms<Shapes>): Promise<Readonly<Record<string, Present>>>;
  openWork?(rooms: HostedWorkRooms<Shapes>): Promise<HostedWork>;
  openConsole?(rooms: OperatorRooms<Shapes>): Promise<HostedConsole>;
  /**
   * Lines of `paraph workflow show`, in place of the published context.
   *
   * @param detail As the API tells it.
   * @returns Undefined for an instance of another workflow.
   */
  shown?(detail: object): readonly Field[] | undefined;
  /** Adds commands below `paraph workflow`. */
  addCommands?(workflow: Command, context: CliContext, done: Done, files: ChartFiles): void;
}

export const namesIn = (hosted: readonly HostedWorkflows[]): readonly string[] =>
  hosted.flatMap(({ names = [] }) => names);

/** @returns Whether neither applications nor lists see the instances of a workflow. */
export const hiddenIn = (hosted: readonly HostedWorkflows[]): ((name: string) => boolean) => {
  const all = new Set(hosted.flatMap(({ hidden = [] }) => hidden));
  return (name) => all.has(name);
};
