/** `paraph status`: how a transaction stands, or with `--wait` how it ends. */
import { addConnectionOptions, answerIn, type ConnectionFlags, connect } from './connection.ts';
import { type AddCommand, type CliContext, type Report, UsageProblem } from './context.ts';
import { whileWaiting } from './progress.ts';
import { checkWritable, parseSeconds } from './sign.command.ts';
import { standingReport } from './signature-report.ts';
import { obtainTrust } from './trust.ts';

interface StatusFlags extends ConnectionFlags {
  readonly wait?: true;
  readonly timeout: number;
  readonly text?: string;
  readonly out?: string;
  readonly trust?: string;
}

const status = async (context: CliContext, msspTransId: string, flags: StatusFlags): Promise<Report> => {
  const connection = connect(context, flags);
  const { client } = connection;
  const { text } = flags;
  if (flags.trust !== undefined && text === undefined) {
    throw new UsageProblem('--trust needs --text: a signature is verified against the text that was signed.');
  }
  await checkWritable(flags.out);
  const goesOn = `Interrupted; transaction ${msspTransId} goes on: ${connection.resume(msspTransId)}`;
  const check =
    text === undefined ? undefined : { text, trust: await obtainTrust(connection, flags.trust, goesOn) };

  const until = context.now() + (flags.wait ? flags.timeout * 1000 : 0);
  const ask = () => (flags.wait ? client.statusAtEnd(msspTransId, until) : client.status(msspTransId));
  const reply = await whileWaiting(
    context,
    `waiting for ${msspTransId}`,
    flags.wait ? flags.timeout : undefined,
    ask,
  );
  const standing = answerIn(connection, reply, goesOn, { msspTransId });
  return standingReport(context, connection, { msspTransId }, standing, check, flags.out);
};

export const addStatus: AddCommand = (program, context, done) => {
  const command = program
    .command('status')
    .description('show how an asynchronous transaction stands')
    .argument('<MSSP_TransID>', 'as paraph sign printed it')
    .option('--wait', 'wait until it has ended')
    .option('--timeout <seconds>', 'how long to wait at most', parseSeconds, 300)
    .option('--text <text>', 'what was to be signed: the signature is verified against it')
    .option('--out <file>', 'write the signature (CMS, DER) to a file')
    .option('--trust <file>', "trust the root certificates in this PEM file, not the service's own");
  addConnectionOptions(command).action(async (msspTransId: string, flags: StatusFlags) =>
    done(await status(context, msspTransId, flags)),
  );
};
