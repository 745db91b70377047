/** The arguments and results of a command. Tests pass values of their own. */
import type { Command } from 'commander';
import type { Fetch } from '../../packages/client/src/fetch.ts';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import { type Environment, readEnvironment } from '../environment/environment.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { Outcome } from './exit-codes.ts';
import type { PartCommands } from './part-commands.ts';

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

export interface CliContext {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: Input;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  readonly fetch: Fetch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Opens the admin API in this process, over the Redis of the service. */
  readonly withLocalApi: WithLocalApi;
  readonly withStore: WithStore;
  /** The parts of the product (parts/parts.ts). */
  readonly parts: readonly {
    readonly slots?: readonly string[];
    readonly auditActions?: readonly string[];
    readonly commands?: PartCommands;
  }[];
}

/** The result of a command. `cli.ts` prints it as text or, with `--json`, as JSON. */
export interface Report {
  readonly outcome: Outcome;
  /** The members of the JSON beside `outcome`. */
  readonly document: object;
  /** Whole lines for stdout. */
  readonly text?: string;
  /** One sentence for stderr; in the JSON, too. */
  readonly problem?: string;
}

export const ok = (document: object, text: string): Report => ({ outcome: 'ok', document, text });

/** Needs of single commands when the API runs in this process. */
export interface LocalNeeds {
  /** The files that the configuration names. */
  readonly files: boolean;
  /** Users, tokens, secrets, keys and certificates, with the master key. */
  readonly secrets: boolean;
}

export type WithLocalApi = (
  context: CliContext,
  needs: LocalNeeds,
  work: (local: {
    /** Whether a search index is kept (`operations.index`). */
    readonly indexed: boolean;
    readonly send: (request: Request) => Promise<Response>;
  }) => Promise<Report>,
) => Promise<Report>;

/** The Redis of the service, for a command that works beside the service. */
export interface Store {
  /** A connection that waits for Redis without end. */
  readonly redis: RedisClient;
  readonly masterKey: Uint8Array;
  readonly queue: { readonly prefix: string; readonly shards: number };
  /** The version of the store that this release writes (docs/storage.md). */
  readonly version: string;
  /** Whether this is the private Redis of a running service. */
  readonly embeddedRuns: boolean;
  readonly openCustody: () => Promise<KeyCustody>;
}

/**
 * Opens the Redis of the service, or the private one in the data directory of a stopped service.
 *
 * @param check Called before Redis is opened, because that may make a data directory.
 */
export type WithStore = (
  context: CliContext,
  check: (environment: Environment) => void,
  work: (store: Store) => Promise<Report>,
) => Promise<Report>;

/** Takes the report of a command, or the exit code of the service. */
export type Done = (end: Report | number) => void;
export type AddCommand = (program: Command, context: CliContext, done: Done) => void;

/** Thrown to end a command early. */
export class CommandEnd extends Error {
  readonly report: Report;
  constructor(report: Report) {
    super(report.problem);
    this.report = report;
  }
}

export const interrupted = (problem: string): CommandEnd =>
  new CommandEnd({ outcome: 'interrupted', document: {}, problem: `Interrupted; ${problem}.` });

/** Ends a command that was called in a wrong way, before it does anything. */
export class UsageError extends CommandEnd {
  constructor(problem: string) {
    super({ outcome: 'usage', document: {}, problem });
  }
}

/** An environment variable; empty counts as unset. */
export const variable = ({ env }: Pick<CliContext, 'env'>, name: string): string | undefined =>
  env[name] || undefined;

/** @throws UsageError that names the variables which are not usable. */
export const environmentIn = ({ env }: Pick<CliContext, 'env'>): Environment => {
  try {
    return readEnvironment(env);
  } catch (error) {
    throw new UsageError(`${toError(error).message}.`);
  }
};
