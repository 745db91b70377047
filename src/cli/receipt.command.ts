/** `paraph receipt`: shows a receipt on the phone that signed. */
import type { Reaction } from '../../packages/client/src/reply.ts';
import {
  addConnectionOptions,
  answerIn,
  type ConnectionFlags,
  connect,
} from '../command-line/connection.ts';
import { type AddCommand, type CliContext, ok, type Report } from '../command-line/context.ts';
import { paletteFor, whileWaiting } from '../command-line/screen.ts';

interface ReceiptFlags extends ConnectionFlags {
  readonly lang?: string;
}

const words: Readonly<Record<Reaction, string>> = {
  accepted: 'The user has accepted the receipt.',
  cancelled: 'The user has cancelled the receipt.',
  timeout: 'The user has seen the receipt and done nothing.',
  unanswered: 'The receipt was never answered.',
  unknown: 'The receipt was sent; the service does not say what the user did.',
};

const receipt = async (
  context: CliContext,
  msspTransId: string,
  msisdn: string,
  text: string,
  flags: ReceiptFlags,
): Promise<Report> => {
  const connection = connect(context, flags);
  const reply = await whileWaiting(context, `waiting for ${msisdn}`, undefined, () =>
    connection.client.receipt({ msspTransId, msisdn, text, language: flags.lang }),
  );
  const goesOn = 'Interrupted; the receipt goes on, and stays on the phone for its time.';
  const reaction = answerIn(connection, reply, goesOn, { msspTransId });
  const paint = paletteFor(context.stdout, context)[reaction === 'accepted' ? 'green' : 'bold'];
  return ok({ msspTransId, msisdn, receipt: reaction }, `${paint(words[reaction])}\n`);
};

export const addReceipt: AddCommand = (program, context, done) => {
  const command = program
    .command('receipt')
    .description('show the user a receipt for a signature')
    .argument('<MSSP_TransID>', 'the transaction that was signed')
    .argument('<msisdn>', 'mobile number that signed')
    .argument('<text>', 'what the user is to read')
    .option('--lang <code>', 'language of the screens: en, de, fr, it …');
  addConnectionOptions(command).action(
    async (msspTransId: string, msisdn: string, text: string, flags: ReceiptFlags) =>
      done(await receipt(context, msspTransId, msisdn, text, flags)),
  );
};
