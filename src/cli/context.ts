/**
 * What a command has of the world. The executable hands in the process's own; a test hands in its own.
 */
import type { Command } from 'commander';
import type { Fetch } from '../client/fetch.ts';
import { type Environment, readEnvironment } from '../environment.ts';
import type { Outcome } from './exit-codes.ts';

export interface Output {
  write(text: string): unknown;
  /** True for a terminal. */
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

export interface CliContext {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: Input;
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  readonly fetch: Fetch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What a command came to. It is printed in one place, for a person or, with `--json`, for a script. */
export interface Report {
  readonly outcome: Outcome;
  /** The members of the JSON beside `outcome`. */
  readonly document: object;
  /** For a person, on stdout: whole lines. */
  readonly text?: string;
  /** One sentence for a person, on stderr; in the JSON, too. */
  readonly problem?: string;
}

/** Is told what a command came to; the service itself ends with an exit code. */
export type Done = (end: Report | number) => void;
export type AddCommand = (program: Command, context: CliContext, done: Done) => void;

/** Thrown where a command has nothing more to do. */
export class Ended extends Error {
  readonly report: Report;
  constructor(report: Report) {
    super(report.problem);
    this.report = report;
  }
}

export const interrupted = (problem: string): Ended =>
  new Ended({ outcome: 'interrupted', document: {}, problem: `Interrupted; ${problem}.` });

/** The command was never begun. */
export class UsageProblem extends Ended {
  constructor(problem: string) {
    super({ outcome: 'usage', document: {}, problem });
  }
}

/** An environment variable; empty counts as unset. */
export const variable = ({ env }: Pick<CliContext, 'env'>, name: string): string | undefined =>
  env[name] || undefined;

/**
 * The environment as the product reads it.
 *
 * @throws UsageProblem That names the variables which are not usable.
 */
export const environmentOf = ({ env }: Pick<CliContext, 'env'>): Environment => {
  try {
    return readEnvironment(env);
  } catch (error) {
    throw new UsageProblem(`${error instanceof Error ? error.message : String(error)}.`);
  }
};
