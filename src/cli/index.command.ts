/** `paraph index rebuild`: makes the search index anew from the jobs. It is searched meanwhile as it was. */
import { doneBy } from '../operators/audit.ts';
import { type AddCommand, type CliContext, interrupted, type Report } from './context.ts';
import { needsIndex, withOperations } from './operations-session.ts';
import { bar, whileShowing } from './progress.ts';

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
      return { outcome: 'ok', document: { indexed }, text: `Indexed ${indexed} transactions.\n` };
    } catch (error) {
      if (signal.aborted) {
        throw interrupted('the index is as it was');
      }
      if (error instanceof Error && error.message.startsWith('Another process')) {
        return { outcome: 'outstanding', document: {}, problem: `${error.message}.` };
      }
      throw error;
    }
  });

export const addIndex: AddCommand = (program, context, done) => {
  program
    .command('index')
    .description('the search index behind paraph ls and the console')
    .command('rebuild')
    .description('make it anew from the transactions themselves')
    .action(async () => done(await rebuild(context)));
};
