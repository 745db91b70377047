/** What a part brings to the command line. */
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
  /** By the heading of `--help` under which they stand. */
  readonly add: Readonly<Partial<Record<Heading, readonly AddCommand[]>>>;
  /** By command, without `paraph` and the command. */
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
  /** Lines of `stats`. @param told The overview of the API. */
  stats?(told: object): readonly Field[];
  /** Below `show`. */
  ofTransaction?(
    context: CliContext,
    admin: Admin,
    msspTransId: string,
  ): Promise<{ readonly document: object; readonly text: string }>;
}
