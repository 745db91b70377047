/** `paraph profile`: what a mobile user can sign with. */
import { Buffer } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import type { ProfileAnswer, SscdAnswer } from '../client/reply.ts';
import { addConnectionOptions, answerIn, type ConnectionFlags, connect } from './connection.ts';
import type { AddCommand, CliContext, Report } from './context.ts';
import { type Field, fieldsText, paletteFor, printable } from './screen.ts';

/** `2029-11-20`; undefined for bytes that are no certificate, which is the service's business. */
const endOfValidity = (base64: string | undefined): string | undefined => {
  try {
    const certificate = new X509Certificate(Buffer.from(base64 ?? '', 'base64'));
    return new Date(certificate.validTo).toISOString().slice(0, 10);
  } catch {
    return undefined;
  }
};

type CertificateAnswer = SscdAnswer['certificates'][number];

const certificateText = ({ algorithm, state, chain }: CertificateAnswer): string => {
  const until = endOfValidity(chain[0]);
  return `${algorithm}, ${state}${until === undefined ? '' : `, until ${until}`}`;
};

const pinText = ({ pinBlocked }: SscdAnswer): string | undefined => {
  if (pinBlocked === undefined) return undefined;
  return pinBlocked ? 'blocked' : 'not blocked';
};

const sscdFields = (kind: string, sscd: SscdAnswer): readonly Field[] => [
  [kind, sscd.state ?? 'present'],
  ['  PIN', pinText(sscd)],
  ...sscd.certificates.flatMap((certificate): readonly Field[] => [
    ['  certificate', certificateText(certificate)],
    ['  subject', certificate.subjectNames[0]],
  ]),
  ['  network', sscd.card && `${sscd.card.network} (${sscd.card.mcc} ${sscd.card.mnc})`],
];

const yesNo = (flag: boolean | undefined): string | undefined => {
  if (flag === undefined) return undefined;
  return flag ? 'yes' : 'no';
};

const fieldsOf = (answer: ProfileAnswer): readonly Field[] => [
  ...answer.profiles.map((uri, index): Field => [index === 0 ? 'profiles' : '', uri]),
  ...(answer.sim === undefined ? [] : sscdFields('SIM', answer.sim)),
  ...answer.apps.flatMap((app) => sscdFields('App', app)),
  ['auto activation', yesNo(answer.autoActivation)],
  ['recovery code', yesNo(answer.recoveryCodeCreated)],
];

const profile = async (context: CliContext, msisdn: string, flags: ConnectionFlags): Promise<Report> => {
  const connection = connect(context, flags);
  const reply = await connection.client.profile(msisdn);
  const answer = answerIn(connection, reply, 'Interrupted.', { msisdn });
  const palette = paletteFor(context.stdout, context);
  const fields = fieldsText(fieldsOf(answer), context);
  return {
    outcome: 'ok',
    document: { msisdn, ...answer },
    text: `${palette.green(`${printable(msisdn)} can be asked to sign.`)}\n\n${fields}`,
  };
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
