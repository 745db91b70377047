/** `paraph cancel`: ends an open transaction, and takes the prompt off the phone. */
import type { Command } from 'commander';
import type { CliContext, Report } from './context.ts';
import { refusal } from './operations-refusal.ts';
import { withOperations } from './operations-session.ts';
import { paletteFor } from './screen.ts';

const cancel = (context: CliContext, msspTransId: string, reason: string): Promise<Report> =>
  withOperations(context, async ({ replays, operator }) => {
    const result = await replays.cancel(msspTransId, operator, reason);
    if (typeof result === 'object') return refusal(result.refused, { msspTransId });
    switch (result) {
      case 'cancelled':
        return {
          outcome: 'ok',
          document: { msspTransId, result },
          text: `${paletteFor(context.stdout, context).green('Cancelled.')} It ends as fault 401.\n`,
        };
      case 'busy':
        return {
          outcome: 'outstanding',
          document: { msspTransId, result },
          problem: 'A worker was at it all the time; ask again.',
        };
      case 'too-late':
      case 'unknown':
        return refusal(result, { msspTransId });
    }
  });

export const addCancel = (program: Command, context: CliContext, done: (report: Report) => void): void => {
  program
    .command('cancel')
    .description('end an open transaction as fault 401')
    .argument('<MSSP_TransID>', 'the transaction')
    .requiredOption('--reason <text>', 'why; for the audit log')
    .option('--json', 'print one JSON document')
    .action(async (id: string, { reason }: { readonly reason: string }) =>
      done(await cancel(context, id, reason)),
    );
};
