/**
 * `paraph index rebuild`: builds the search index again from the jobs. Searches use the old one
 * until then.
 */
import { type Admin, addAdminAction, refused } from '../command-line/admin.ts';
import {
  type AddCommand,
  type CliContext,
  interrupted,
  ok,
  type Report,
} from '../command-line/context.ts';
import { bar, whileShowing } from '../command-line/screen.ts';

interface Said {
  readonly indexed: number;
  /** Roughly; not in the last one. */
  readonly expected?: number;
  readonly done?: true;
  readonly error?: string;
  readonly message?: string;
}

const rebuild = async (context: CliContext, admin: Admin): Promise<Report> => {
  admin.needsIndex();
  const { signal } = context;
  let last: Said | undefined;
  try {
    await whileShowing(context, async (show) => {
      for await (const said of await admin.follow<Said>(['index', 'rebuild'])) {
        last = said;
        const { indexed, expected = 0 } = said;
        show(`${bar(indexed, expected)} ${indexed} of ${expected} indexed`);
      }
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (last?.done) return ok({ indexed: last.indexed }, `Indexed ${last.indexed} transactions.\n`);
  if (signal.aborted) throw interrupted('the index is as it was');
  if (last?.error === 'busy') throw refused('outstanding', 'busy', `${last.message}.`);
  throw refused('unexpected', 'given-up', 'The rebuild was given up, and the index is as it was.');
};

export const addIndex: AddCommand = (program, context, done) => {
  const command = program
    .command('index')
    .description('the search index behind paraph ls and the console')
    .command('rebuild')
    .description('build it again from the transactions themselves');
  addAdminAction(command, context, done, (admin) => rebuild(context, admin));
};
