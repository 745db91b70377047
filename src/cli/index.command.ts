/**
 * `paraph index rebuild`: builds the search index again from the jobs. Searches use the old one
 * until then.
 */
import { doneBy } from '../operators/audit.ts';
import { toError } from '../redis/to-error.ts';
import { type AddCommand, type CliContext, interrupted, ok, type Report } from './context.ts';
import { bar, whileShowing } from './screen.ts';
import { needsIndex, withOperations } from './service-redis.ts';

const rebuild = (context: CliContext): Promise<Report> =>
  withOperations(context, async (session) => {
    needsIndex(session);
    const { history, audit, operator } = session;
    const { signal } = context;
    await audit.record({ ...doneBy(operator), action: 'history-rebuild' });
    try {
      const { indexed } = await whileShowing(context, (show) =>
        history.rebuild(
          ({ indexed: done, expected }) => show(`${bar(done, expected)} ${done} of ${expected} indexed`),
          signal,
        ),
      );
      return ok({ indexed }, `Indexed ${indexed} transactions.\n`);
    } catch (error) {
      if (signal.aborted) throw interrupted('the index is as it was');
      const { message } = toError(error);
      if (!message.startsWith('Another process')) throw error;
      return { outcome: 'outstanding', document: {}, problem: `${message}.` };
    }
  });

export const addIndex: AddCommand = (program, context, done) => {
  program
    .command('index')
    .description('the search index behind paraph ls and the console')
    .command('rebuild')
    .description('build it again from the transactions themselves')
    .action(async () => done(await rebuild(context)));
};
