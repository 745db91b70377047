/** `paraph cancel`: ends an open transaction, and takes the prompt off the phone. */
import { addAdminAction } from './admin.ts';
import type { AddCommand } from './context.ts';
import { paletteFor } from './screen.ts';

interface Flags {
  readonly reason: string;
}

export const addCancel: AddCommand = (program, context, done) => {
  const command = program
    .command('cancel')
    .description('end an open transaction as fault 401')
    .argument('<MSSP_TransID>', 'the transaction')
    .requiredOption('--reason <text>', 'why; for the audit log');
  addAdminAction(command, context, done, async (admin, msspTransId: string, { reason }: Flags) => {
    const answer = await admin.post<object>(['transactions', msspTransId, 'cancel'], { reason });
    return {
      outcome: 'ok',
      document: { msspTransId, ...answer },
      text: `${paletteFor(context.stdout, context).green('Cancelled.')} It ends as fault 401.\n`,
    };
  });
};
