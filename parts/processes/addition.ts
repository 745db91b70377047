/**
 * What another part brings to processes, when people sign something besides a text (`brings` in
 * src/part/part.ts): one part at most. A process whose definition has none of its members runs as
 * without it.
 *
 * 1. A definition has members of its own: of the whole, of a step, of a person.
 * 2. Before the first step `prepare` reads what they name, and writes the texts of the people.
 * 3. After each signature `complete` does what belongs to it. Only then the person counts as signed.
 * 4. At the end `finish` gets the evidence record.
 *
 * Each of these is an activity: it may be cut off anywhere and is run again until it answers. What
 * it answers is an object, whose members stand in what applications, operators and the evidence are
 * shown: of the process (`prepare`, then `finish`), and of the signer (`complete`).
 */
import type { Field } from '../../src/command-line/screen.ts';
import type { Html } from '../../src/console/pages/markup.ts';
import type { ApiPart } from '../../src/part/opened.ts';
import type { ApiRooms, OperatorRooms, PartShapes } from '../../src/part/rooms.ts';
import type { HostedPage, HostedRooms, HostedWorkRooms } from '../workflows/index.ts';
import type { ProcessReport } from './charts/process-report.ts';
import type { Completion } from './charts/signer-contract.ts';
import type { DefinitionAddition, Members } from './definition/addition.ts';

/** The process that a member of {@link AdditionWork} works for. */
export interface InProcess {
  readonly apId: string;
  /** As the application knows it. */
  readonly id: string;
  /** Of the instance: it names the process in all of the service. */
  readonly instance: string;
  /** When the instance began, because an id may be used again after its retention. */
  readonly createdAt: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** `unusable`: for good, so the process fails. `problem` is a sentence for the application. */
export type Added =
  | { readonly kind: 'added'; readonly members: Members }
  | { readonly kind: 'unusable'; readonly problem: string };

/** What `prepare` is given. */
export interface Preparation {
  /** Of the definition. */
  readonly members: Members;
  /** Of the steps with an addition, and of their people. */
  readonly steps: readonly { readonly members: Members; readonly people: readonly Members[] }[];
  /** The deadline of the process; the steps of its compensation may end later. */
  readonly until: number;
}

/** In a process with workers. What throws is tried again. */
export interface AdditionWork {
  prepare(definition: Preparation, process: InProcess): Promise<Added>;
  complete(completion: Completion, process: InProcess): Promise<Added>;
  /** @param evidence A compact JWS. */
  finish(
    ended: { readonly report: ProcessReport; readonly evidence: string },
    process: InProcess,
  ): Promise<Members>;
}

/** In a process with the API. */
export interface AdditionPages extends Pick<ApiPart, 'routes'> {
  /**
   * Stands on the page of a signer, before the text.
   *
   * @param path Of that page: `/tasks/…`. Its own pages stand below.
   */
  section(task: AdditionTask, path: string, language: string): Html;
}

/** What a page of a signer is about. */
export interface AdditionTask {
  readonly apId: string;
  /** Of the process. */
  readonly instance: string;
  readonly createdAt: number;
  /** Names the signer in the process. */
  readonly child: string;
  /** Of the step, and what `prepare` has answered. */
  readonly members: Members;
  readonly prepared: Members;
}

export interface AdditionPageRooms<Shapes extends PartShapes = PartShapes>
  extends ApiRooms<Shapes> {
  /** @returns Undefined for a token of no link, of a link that was revoked, and of a process that is gone. */
  readonly findTask: (token: string) => Promise<AdditionTask | undefined>;
}

/** On the page of a process in the console, and in the admin API. */
export interface AdditionConsole {
  /**
   * @param members What `prepare` and `finish` have answered.
   * @returns The same, with what the service knows besides.
   */
  toldOf(
    process: Pick<InProcess, 'instance' | 'createdAt'>,
    members: Members,
    steps: readonly { readonly name: string }[],
  ): Promise<Members>;
  section(told: Members, page: HostedPage): Html;
}

export interface ProcessAddition<Shapes extends PartShapes = PartShapes> {
  readonly definition: DefinitionAddition;
  /**
   * Checks by what the service keeps, before a process is started over HTTP, and before the first
   * turn of one that another program has added.
   */
  openCheck?(
    rooms: HostedRooms<Shapes>,
  ): Promise<(apId: string, members: Members) => Promise<string | undefined>>;
  openWork(rooms: HostedWorkRooms<Shapes>): Promise<AdditionWork>;
  openPages?(rooms: AdditionPageRooms<Shapes>): Promise<AdditionPages>;
  openConsole?(rooms: OperatorRooms<Shapes>): Promise<AdditionConsole>;
  /** Lines of `paraph workflow show`. @param detail As the admin API tells it. */
  shown?(detail: object): readonly Field[];
}
