/** `paraph sign`: asks a mobile user to sign a text, waits, and verifies what comes back. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ProfileName, profileNames } from '../protocol/requests.ts';
import { addConnectionOptions, answerIn, type ConnectionFlags, connect } from './connection.ts';
import { type AddCommand, type CliContext, type Report, UsageProblem } from './context.ts';
import { parseCount } from './operations-filter.ts';
import { whileWaiting } from './progress.ts';
import { standingReport } from './signature-report.ts';
import { obtainTrust } from './trust.ts';

interface SignFlags extends ConnectionFlags {
  readonly profile: string;
  readonly timeout: number;
  readonly asynch?: true;
  readonly lang?: string;
  readonly geofencing?: true;
  readonly validate?: true;
  readonly subscriberInfo?: true;
  readonly out?: string;
  readonly trust?: string;
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

const isShort = (text: string): text is keyof typeof shortProfiles => Object.hasOwn(shortProfiles, text);

const isUri = (text: string): text is `http://${string}` => /^https?:\/\/\S+$/.test(text);

/** A short name, a name as the interface has it, or the whole URI in any dialect. */
const parseProfile = (text: string): ProfileName | `http://${string}` => {
  if (isShort(text)) return shortProfiles[text];
  const name = profileNames.find((known) => known === text);
  if (name !== undefined) return name;
  if (isUri(text)) return text;
  throw new UsageProblem(`--profile must be one of ${Object.keys(shortProfiles).join(', ')}, or a URI.`);
};

/** The service has bounds of its own; this one only keeps out what is no time at all. */
export const parseSeconds = parseCount('--timeout', 1, 3600, 'of seconds ');

/** Asked before a person is asked: a signature with nowhere to go would be a pity. */
export const checkWritable = async (out: string | undefined): Promise<void> => {
  if (out === undefined) return;
  await access(dirname(out), constants.W_OK).catch(() => {
    throw new UsageProblem('The directory of the file that --out names does not exist or is not writable.');
  });
};

/** What the service may take to end a transaction after its deadline. */
const graceMs = 15_000;

const isOneTimePassword = (profile: string): boolean => profile.includes('/OtpProfile');

const sign = async (context: CliContext, msisdn: string, text: string, flags: SignFlags): Promise<Report> => {
  const connection = connect(context, flags);
  const { client } = connection;
  const profile = parseProfile(flags.profile);
  await checkWritable(flags.out);
  const nothingSent = 'Interrupted; nothing was sent to be signed.';
  const trust = isOneTimePassword(profile)
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
  const submitted = answerIn(connection, await whileWaiting(context, waiting, seconds, submit), unknown);

  const { msspTransId } = submitted;
  const ended = { msspTransId, msisdn, profile: submitted.profile };
  let { standing } = submitted;
  if (flags.asynch) {
    const polled = await whileWaiting(context, waiting, seconds, () =>
      client.statusAtEnd(msspTransId, until),
    );
    const goesOn = `Interrupted; transaction ${msspTransId} goes on: ${connection.resume(msspTransId)}`;
    standing = answerIn(connection, polled, goesOn, ended);
  }
  const check = trust && { text, trust };
  return standingReport(context, connection, ended, standing, check, flags.out);
};

export const addSign: AddCommand = (program, context, done) => {
  const command = program
    .command('sign')
    .description('ask a mobile user to sign a text, and verify the signature')
    .argument('<msisdn>', 'mobile number, such as +41700092501')
    .argument('<text>', 'what the user is to sign (put -- before a text that begins with a dash)')
    .option('--profile <name>', `how to sign: ${Object.keys(shortProfiles).join(', ')}, or a URI`, 'any')
    .option('--timeout <seconds>', 'time that the user has', parseSeconds, 60)
    .option('--asynch', 'submit, then ask for the status until the end')
    .option('--lang <code>', 'language of the screens: en, de, fr, it …')
    .option('--geofencing', 'ask where the phone is')
    .option('--validate', 'have the service verify the signature, too')
    .option('--subscriber-info', 'ask for the network of the subscriber')
    .option('--out <file>', 'write the signature (CMS, DER) to a file')
    .option('--trust <file>', "trust the root certificates in this PEM file, not the service's own");
  addConnectionOptions(command).action(async (msisdn: string, text: string, flags: SignFlags) =>
    done(await sign(context, msisdn, text, flags)),
  );
};
