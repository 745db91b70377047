/**
 * `paraph sign`: asks a mobile user to sign a text, waits, and verifies the signature.
 * `paraph status`: how a transaction stands, or with `--wait` how it ends.
 */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  isOneTimePassword,
  type ProfileName,
  profileNames,
} from '../../packages/protocol/src/requests.ts';
import {
  addConnectionOptions,
  answerIn,
  type ConnectionFlags,
  connect,
} from '../command-line/connection.ts';
import {
  type AddCommand,
  type CliContext,
  type Report,
  UsageError,
} from '../command-line/context.ts';
import { whileWaiting } from '../command-line/screen.ts';
import { parseCount } from '../command-line/transactions-filter.ts';
import { obtainTrust } from '../command-line/trust.ts';
import { reportStanding } from './signature-report.ts';

interface CommonFlags extends ConnectionFlags {
  readonly timeout: number;
  readonly out?: string;
  readonly trust?: string;
}

interface SignFlags extends CommonFlags {
  readonly profile: string;
  readonly asynch?: true;
  readonly lang?: string;
  readonly geofencing?: true;
  readonly validate?: true;
  readonly subscriberInfo?: true;
}

interface StatusFlags extends CommonFlags {
  readonly wait?: true;
  readonly otp?: true;
  readonly text?: string;
}

const shortProfiles = {
  any: 'Any-LoA4',
  sim: 'STK-LoA4',
  app: 'Device-LoA4',
  ec: 'MID/v1/AuthProfile1.ECC',
  rsa: 'MID/v1/AuthProfile1.RSA',
  geofencing: 'Any-Geofencing-LoA4',
  'otp-text': 'MID/v1/OtpProfileText',
  'otp-flash': 'MID/v1/OtpProfileFlash',
} as const satisfies Record<string, (typeof profileNames)[number]>;

const isShort = (text: string): text is keyof typeof shortProfiles =>
  Object.hasOwn(shortProfiles, text);

/** A short name, a name of the interface, or a whole URI. */
const parseProfile = (text: string): ProfileName | `http://${string}` => {
  if (isShort(text)) return shortProfiles[text];
  const name = profileNames.find((known) => known === text);
  if (name !== undefined) return name;
  if (/^https?:\/\/\S+$/.test(text)) return text as `http://${string}`;
  throw new UsageError(
    `--profile must be one of ${Object.keys(shortProfiles).join(', ')}, or a URI.`,
  );
};

/** The service has narrower bounds of its own. */
const parseSeconds = parseCount('--timeout', 1, 3600, 'of seconds ');

/** Runs before the person is asked, so that no signature is lost. */
const checkWritable = async (out: string | undefined): Promise<void> => {
  if (out === undefined) return;
  await access(dirname(out), constants.W_OK).catch(() => {
    throw new UsageError(
      'The directory of the file that --out names does not exist or is not writable.',
    );
  });
};

/** Time that the service may need to end a transaction after its deadline. */
const graceMs = 15_000;

const goesOn = (msspTransId: string, resume: string): string =>
  `Interrupted; transaction ${msspTransId} goes on: ${resume}`;

const sign = async (
  context: CliContext,
  msisdn: string,
  text: string,
  flags: SignFlags,
): Promise<Report> => {
  const connection = connect(context, flags);
  const { client } = connection;
  const profile = parseProfile(flags.profile);
  await checkWritable(flags.out);
  const nothingSent = 'Interrupted; nothing was sent to be signed.';
  // A one-time password is not a signature: there is nothing to verify.
  const oneTimePassword = isOneTimePassword(profile);
  const trust = oneTimePassword
    ? undefined
    : await obtainTrust(connection, flags.trust, nothingSent);

  const seconds = flags.timeout;
  const waiting = `waiting for ${msisdn}`;
  const until = context.now() + seconds * 1000 + graceMs;
  const submit = () =>
    client.sign({
      msisdn,
      text,
      mode: flags.asynch ? 'asynch' : 'synch',
      profile,
      timeoutSeconds: seconds,
      language: flags.lang,
      geofencing: flags.geofencing === true,
      subscriberInfo: flags.subscriberInfo === true,
      validate: flags.validate === true,
    });
  const unknown = `Interrupted; the transaction goes on, and the phone may ask for up to ${seconds} s. Its end cannot be asked for: only --asynch tells the MSSP_TransID in time.`;
  const submitted = answerIn(
    connection,
    await whileWaiting(context, waiting, seconds, submit),
    unknown,
  );

  const { msspTransId } = submitted;
  const ended = { msspTransId, msisdn, profile: submitted.profile };
  const resume = connection.resume(msspTransId, oneTimePassword);
  let { standing } = submitted;
  // Some services accept a synchronous request, too, and give the end by the status.
  if (standing.state === 'outstanding') {
    const polled = await whileWaiting(context, waiting, seconds, () =>
      client.statusAtEnd(msspTransId, until, { oneTimePassword }),
    );
    standing = answerIn(connection, polled, goesOn(msspTransId, resume), ended);
  }
  const check = trust && { text, trust };
  return reportStanding(context, resume, ended, standing, check, flags.out);
};

const status = async (
  context: CliContext,
  msspTransId: string,
  flags: StatusFlags,
): Promise<Report> => {
  const connection = connect(context, flags);
  const { client } = connection;
  const { text } = flags;
  if (flags.trust !== undefined && text === undefined) {
    throw new UsageError(
      '--trust needs --text: a signature is verified against the text that was signed.',
    );
  }
  await checkWritable(flags.out);
  const oneTimePassword = flags.otp === true;
  const resume = connection.resume(msspTransId, oneTimePassword);
  const onInterrupt = goesOn(msspTransId, resume);
  const check =
    text === undefined
      ? undefined
      : { text, trust: await obtainTrust(connection, flags.trust, onInterrupt) };

  const until = context.now() + (flags.wait ? flags.timeout * 1000 : 0);
  const ask = () =>
    flags.wait
      ? client.statusAtEnd(msspTransId, until, { oneTimePassword })
      : client.status(msspTransId, { oneTimePassword });
  const seconds = flags.wait ? flags.timeout : undefined;
  const reply = await whileWaiting(context, `waiting for ${msspTransId}`, seconds, ask);
  const standing = answerIn(connection, reply, onInterrupt, { msspTransId });
  return reportStanding(context, resume, { msspTransId }, standing, check, flags.out);
};

const outOption = ['--out <file>', 'write the signature (CMS, DER) to a file'] as const;
const trustOption = [
  '--trust <file>',
  "trust the root certificates in this PEM file, not the service's own",
] as const;

export const addSign: AddCommand = (program, context, done) => {
  const command = program
    .command('sign')
    .description('ask a mobile user to sign a text, and verify the signature')
    .argument('<msisdn>', 'mobile number, such as +41700092501')
    .argument('<text>', 'what the user is to sign (put -- before a text that begins with a dash)')
    .option(
      '--profile <name>',
      `how to sign: ${Object.keys(shortProfiles).join(', ')}, or a URI`,
      'any',
    )
    .option('--timeout <seconds>', 'time that the user has', parseSeconds, 60)
    .option('--asynch', 'submit, then ask for the status until the end')
    .option('--lang <code>', 'language of the screens: en, de, fr, it …')
    .option('--geofencing', 'ask where the phone is')
    .option('--validate', 'have the service verify the signature, too')
    .option('--subscriber-info', 'ask for the network of the subscriber')
    .option(...outOption)
    .option(...trustOption);
  addConnectionOptions(command).action(async (msisdn: string, text: string, flags: SignFlags) =>
    done(await sign(context, msisdn, text, flags)),
  );
};

export const addStatus: AddCommand = (program, context, done) => {
  const command = program
    .command('status')
    .description('show how an asynchronous transaction stands')
    .argument('<MSSP_TransID>', 'as paraph sign printed it')
    .option('--wait', 'wait until it has ended')
    .option('--timeout <seconds>', 'how long to wait at most', parseSeconds, 300)
    .option('--otp', 'it is a one-time password, which ends with status 100')
    .option('--text <text>', 'what was to be signed: the signature is verified against it')
    .option(...outOption)
    .option(...trustOption);
  addConnectionOptions(command).action(async (msspTransId: string, flags: StatusFlags) =>
    done(await status(context, msspTransId, flags)),
  );
};
