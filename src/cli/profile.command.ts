/** `paraph profile`: what a mobile user can sign with. */
import { Buffer } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import type { ProfileAnswer, SscdAnswer } from '../../packages/client/src/reply.ts';
import {
  addConnectionOptions,
  answerIn,
  type ConnectionFlags,
  connect,
} from '../command-line/connection.ts';
import { type AddCommand, type CliContext, ok, type Report } from '../command-line/context.ts';
import {
  type Field,
  fieldsText,
  listFields,
  paletteFor,
  printable,
} from '../command-line/screen.ts';

/** `2029-11-20`; undefined for bytes that are not a certificate. */
const readExpiry = (base64: string | undefined): string | undefined => {
  try {
    const certificate = new X509Certificate(Buffer.from(base64 ?? '', 'base64'));
    return new Date(certificate.validTo).toISOString().slice(0, 10);
  } catch {
    return undefined;
  }
};

const certificateText = ({
  algorithm,
  state,
  chain,
}: SscdAnswer['certificates'][number]): string => {
  const until = readExpiry(chain[0]);
  return `${algorithm}, ${state}${until === undefined ? '' : `, until ${until}`}`;
};

/** @returns Undefined where the service does not say. */
const choose = (flag: boolean | undefined, yes: string, no: string): string | undefined => {
  if (flag === undefined) return undefined;
  return flag ? yes : no;
};

const sscdFields = (kind: string, sscd: SscdAnswer): readonly Field[] => [
  [kind, sscd.state ?? 'present'],
  ['  PIN', choose(sscd.pinBlocked, 'blocked', 'not blocked')],
  ...sscd.certificates.flatMap((certificate): readonly Field[] => [
    ['  certificate', certificateText(certificate)],
    ['  subject', certificate.subjectNames[0]],
  ]),
  ['  network', sscd.card && `${sscd.card.network} (${sscd.card.mcc} ${sscd.card.mnc})`],
];

const profileFields = (answer: ProfileAnswer): readonly Field[] => [
  ...listFields('profiles', answer.profiles),
  ...(answer.sim === undefined ? [] : sscdFields('SIM', answer.sim)),
  ...answer.apps.flatMap((app) => sscdFields('App', app)),
  ['auto activation', choose(answer.autoActivation, 'yes', 'no')],
  ['recovery code', choose(answer.recoveryCodeCreated, 'yes', 'no')],
];

const profile = async (
  context: CliContext,
  msisdn: string,
  flags: ConnectionFlags,
): Promise<Report> => {
  const connection = connect(context, flags);
  const reply = await connection.client.profile(msisdn);
  const answer = answerIn(connection, reply, 'Interrupted.', { msisdn });
  const { green } = paletteFor(context.stdout, context);
  const title = green(`${printable(msisdn)} can be asked to sign.`);
  return ok({ msisdn, ...answer }, `${title}\n\n${fieldsText(profileFields(answer), context)}`);
};

export const addProfile: AddCommand = (program, context, done) => {
  const command = program
    .command('profile')
    .description('show what a mobile user can sign with')
    .argument('<msisdn>', 'mobile number, such as +41700092501');
  addConnectionOptions(command).action(async (msisdn: string, flags: ConnectionFlags) =>
    done(await profile(context, msisdn, flags)),
  );
};
