/**
 * Verifies a signature, and reports who signed what, by which method, and which root is trusted.
 */
import { Buffer } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { ServiceAnswers, Standing } from '../../packages/client/src/reply.ts';
import { type Verification, verifySignature } from '../../packages/pki/src/verify.ts';
import { type CliContext, ok, type Report } from '../command-line/context.ts';
import { type Field, fieldsText, paletteFor } from '../command-line/screen.ts';
import { type Trust, trustDocument, trustFields } from '../command-line/trust.ts';

type Signer = Extract<Verification, { ok: true }>['signer'];

const errors: Readonly<Record<Extract<Verification, { ok: false }>['reason'], string>> = {
  MALFORMED: 'it is no CMS signature of the form that is accepted',
  UNSUPPORTED_ALGORITHM: 'its algorithm is not accepted',
  NOT_ONE_SIGNER: 'it does not have exactly one signer',
  NO_CONTENT: 'it does not hold what was signed',
  CONTENT_MISMATCH: 'another text was signed',
  NO_SIGNER_CERTIFICATE: "the signer's certificate is not in it",
  NO_SERIAL_NUMBER: "the signer's certificate does not say who signed",
  NO_COMMON_NAME: "the signer's certificate does not name the signer",
  DIGEST_MISMATCH: 'it belongs to other data',
  BAD_SIGNATURE: "it was not made with the signer's key",
  UNTRUSTED_CHAIN: 'its certificates do not end in a trusted root',
  CERTIFICATE_EXPIRED: 'a certificate has expired',
  CERTIFICATE_NOT_YET_VALID: 'a certificate is not valid yet',
  CERTIFICATE_REVOKED: 'the certificate is revoked',
  REVOCATION_UNKNOWN: 'nothing says whether the certificate is revoked',
  WRONG_PURPOSE: 'a certificate is for another purpose',
};

const methods: Readonly<Record<string, string>> = {
  'STK-LoA4': 'SIM',
  'Device-LoA4': 'App',
  OtpProfileText: 'text message',
  OtpProfileFlash: 'flash message',
};

const methodText = (profile: string | undefined): string | undefined => {
  if (profile === undefined) return undefined;
  const name = profile.slice(profile.lastIndexOf('/') + 1);
  return Object.hasOwn(methods, name) ? `${methods[name]} (${profile})` : profile;
};

const keyText = ({ certificate }: Signer): string => {
  const { asymmetricKeyType, asymmetricKeyDetails } = new X509Certificate(certificate).publicKey;
  if (asymmetricKeyType === 'rsa') return `RSA, ${asymmetricKeyDetails?.modulusLength} bits`;
  const curve = asymmetricKeyDetails?.namedCurve;
  return `EC ${curve === 'prime256v1' ? 'P-256' : curve}`;
};

const locationText = (location: NonNullable<ServiceAnswers['geofencing']>): string => {
  if ('errorCode' in location) return `none: ${location.errorCode} ${location.errorMessage}`;
  const { country, accuracyMeters, timestamp, deviceConfidence, locationConfidence } = location;
  const parts = [
    country,
    accuracyMeters && `within ${accuracyMeters} m`,
    timestamp,
    deviceConfidence && `trust in device ${deviceConfidence}`,
    locationConfidence && `in location ${locationConfidence}`,
  ];
  return parts.filter(Boolean).join(', ');
};

const serviceFields = ({ geofencing, subscriberNetwork }: ServiceAnswers): readonly Field[] => [
  ['location', geofencing && locationText(geofencing)],
  ['network', subscriberNetwork],
];

interface NamedEnd {
  readonly msspTransId: string;
  /** Undefined for `status`, like the profile. */
  readonly msisdn?: string;
  readonly profile?: string;
}

const createDocument = (
  { msspTransId, msisdn, profile }: NamedEnd,
  services: ServiceAnswers,
): object => ({
  msspTransId,
  msisdn,
  profile,
  ...(Object.keys(services).length > 0 && { services }),
});

const endedFields = ({ msspTransId, msisdn, profile }: NamedEnd): readonly Field[] => [
  ['phone', msisdn],
  ['method', methodText(profile)],
  ['MSSP_TransID', msspTransId],
];

/** A one-time password was sent, which is not a signature. */
const reportDelivery = (context: CliContext, ended: NamedEnd, services: ServiceAnswers): Report => {
  const title = paletteFor(context.stdout, context).green('Delivered; this is not a signature.');
  const fields = [
    ...endedFields(ended),
    ['status', '100 REQUEST_OK'] as const,
    ...serviceFields(services),
  ];
  const document = { ...createDocument(ended, services), delivered: true };
  return ok(document, `${title}\n\n${fieldsText(fields, context)}`);
};

/** @returns The error when the file cannot be written: the signature is still in the report. */
const save = async (
  signature: Uint8Array,
  out: string | undefined,
): Promise<string | undefined> => {
  if (out === undefined) return undefined;
  try {
    await writeFile(out, signature);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    return `The signature could not be written to the file that --out names${code}.`;
  }
};

/** The text that was sent, and the trusted roots. */
interface Check {
  readonly text: string;
  readonly trust: Trust;
}

interface Verdict {
  readonly title: string;
  readonly words: string;
  readonly more: readonly Field[];
  readonly document: object;
  /** Why the signature did not verify; undefined when it did. */
  readonly problem?: string;
}

const verify = (context: CliContext, signature: Uint8Array, check: Check | undefined): Verdict => {
  const { green, red, bold } = paletteFor(context.stdout, context);
  if (check === undefined) {
    return {
      title: bold('Signed; not verified here.'),
      words: 'not verified: give the text with --text',
      more: [],
      document: { verified: false },
    };
  }
  const at = new Date(context.now());
  const verification = verifySignature(signature, check.text, {
    trust: check.trust.certificates,
    at,
  });
  const trust = trustDocument(check.trust);
  if (!verification.ok) {
    const { reason } = verification;
    return {
      title: red('Not verified: do not rely on this signature.'),
      words: 'NOT VERIFIED',
      more: trustFields(check.trust),
      document: { verified: false, reason, trust },
      problem: `The signature did not verify: ${errors[reason]}.`,
    };
  }
  const { serialNumber, commonName, certificate } = verification.signer;
  const signer = {
    serialNumber,
    commonName,
    certificate: Buffer.from(certificate).toString('base64'),
  };
  return {
    title: green(`Signed by ${bold(serialNumber)}`),
    words: 'verified',
    more: [['key', keyText(verification.signer)], ...trustFields(check.trust)],
    document: { verified: true, signer, trust },
  };
};

const reportSignature = async (
  context: CliContext,
  ended: NamedEnd,
  { signature, validated, services }: Extract<Standing, { state: 'signed' }>,
  check: Check | undefined,
  out: string | undefined,
): Promise<Report> => {
  const notSaved = await save(signature, out);
  const verdict = verify(context, signature, check);
  const problem = verdict.problem ?? notSaved;
  const failure = verdict.problem === undefined ? 'unexpected' : 'unverified';
  const fields: readonly Field[] = [
    ['text', check?.text],
    ...endedFields(ended),
    [
      'status',
      validated ? '502 VALID_SIGNATURE: the service has verified it, too' : '500 SIGNATURE',
    ],
    ...serviceFields(services),
    ['signature', verdict.words],
    ...verdict.more,
    ['file', notSaved === undefined ? out : undefined],
  ];
  return {
    outcome: problem === undefined ? 'ok' : failure,
    document: {
      ...createDocument(ended, services),
      text: check?.text,
      status: validated ? 502 : 500,
      signature: Buffer.from(signature).toString('base64'),
      ...verdict.document,
    },
    text: `${verdict.title}\n\n${fieldsText(fields, context)}`,
    ...(problem !== undefined && { problem }),
  };
};

/**
 * @param resume The command that waits for its end.
 * @param check Undefined when the text is not known: then the report says that nothing is verified.
 * @param out   The file for the signature.
 */
export const reportStanding = (
  context: CliContext,
  resume: string,
  ended: NamedEnd,
  standing: Standing,
  check: Check | undefined,
  out: string | undefined,
): Report | Promise<Report> => {
  switch (standing.state) {
    case 'outstanding': {
      const problem = `Transaction ${ended.msspTransId} is outstanding; to wait for its end: ${resume}`;
      return { outcome: 'outstanding', document: ended, problem };
    }
    case 'delivered':
      return reportDelivery(context, ended, standing.services);
    case 'signed':
      return reportSignature(context, ended, standing, check, out);
  }
};
