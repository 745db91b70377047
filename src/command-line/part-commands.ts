/** The members of a part for the command line. */
import type { Command } from 'commander';
import type { Admin } from './admin.ts';
import type { AddCommand, CliContext } from './context.ts';
import type { Field } from './screen.ts';

export type Heading =
  | 'Run the service:'
  | 'Sign:'
  | 'Workflows:'
  | 'Operate:'
  | 'Administer:'
  | 'More:';

export interface PartCommands {
  /** Commands, by their heading in `--help`. */
  readonly add: Readonly<Partial<Record<Heading, readonly AddCommand[]>>>;
  /** Examples by command, each without `paraph` and the command. */
  readonly examples: Readonly<Record<string, readonly string[]>>;
  /** Error codes of the API that are clear only with their path: `callbacks unknown`. */
  readonly errors?: Readonly<Record<string, string>>;
  /** Groups of commands that need the files which the configuration of the part names. */
  readonly readsFiles?: readonly string[];
  /** A column of `aps ls`: its title, and what the API calls it. */
  readonly providerColumns?: readonly {
    readonly title: string;
    readonly member: string;
    readonly none: string;
  }[];
  /** Options of `clients add`, for members that the part adds to a client. */
  readonly clientOptions?: {
    add(command: Command): void;
    /**
     * @param options The values of all options, by their names in commander.
     * @returns Members of the client's entry in the configuration file.
     * @throws UsageError
     */
    read(options: object): object;
  };
  /** Fields of `stats`. @param told The overview from the API. */
  stats?(told: object): readonly Field[];
  /** The lines below those of `show`. */
  ofTransaction?(
    context: CliContext,
    admin: Admin,
    msspTransId: string,
  ): Promise<{ readonly document: object; readonly text: string }>;
}
