/**
 * Verifies an evidence record, offline, from the root certificate.
 *
 * 1. The JWS: its form, the chain of its certificates to a root, their purpose, its signature. When
 *    one of them is wrong, nothing in the record is looked at.
 * 2. Each CMS: it signs exactly the text of its entry, with the key of the person of the entry, for
 *    the transaction of the entry.
 * 3. The entries together: no signature counts twice, and the steps were in order.
 * 4. With the definition: it is the one that the record names, each signer is in it with the text,
 *    and each step has as many signatures as it needs.
 *
 * Certificates are short-lived and records are not, so each certificate must have been valid when
 * the record says that it was used. `at` asks for another time.
 */
import { Buffer } from 'node:buffer';
import { compactVerify } from 'jose';
import { z } from 'zod';
import { checkPath, openCertificate, openCertificates } from '../pki/certificate-path.ts';
import { usableRoots } from '../pki/roots.ts';
import { verifySignature } from '../pki/verify.ts';
import { readJsonObject } from '../relying-party/token.ts';
import { nonceOf } from '../transactions/ids.ts';
import { checkDefinition } from './definition-rules.ts';
import { checkEntries } from './entry-rules.ts';
import { type Evidence, evidenceSchema, evidenceType } from './evidence.ts';
import { type EvidenceProblem, type ProblemReason, problem } from './problem.ts';

export type EvidenceVerification =
  | { readonly ok: true; readonly evidence: Evidence }
  | {
      readonly ok: false;
      /** At least one, in the order of the record. */
      readonly problems: readonly [EvidenceProblem, ...EvidenceProblem[]];
    };

const maxCertificates = 5;

const decode = (segment: string | undefined): Buffer | undefined => {
  const bytes = Buffer.from(segment ?? '', 'base64url');
  // Strictly: otherwise one record has many spellings.
  return bytes.length > 0 && bytes.toString('base64url') === segment ? bytes : undefined;
};

const base64 = (text: unknown): Buffer | undefined => {
  if (typeof text !== 'string') return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
};

const secondsOf = ({ iat }: Readonly<Record<string, unknown>>): Date =>
  new Date(typeof iat === 'number' ? iat * 1000 : Number.NaN);

type Opened = { readonly evidence: Evidence } | { readonly problem: EvidenceProblem };

const openRecord = async (
  record: unknown,
  trust: readonly Uint8Array[],
  at: Date | undefined,
): Promise<Opened> => {
  const refuse = (place: string, reason: ProblemReason): Opened => ({ problem: problem(place, reason) });
  const segments = typeof record === 'string' ? record.split('.') : [];
  const [header, payload, signature] = segments.map(decode);
  if (segments.length !== 3 || !header || !payload || !signature) return refuse('jws', 'NO_JWS');
  const { alg, typ, x5c, crit } = readJsonObject(header) ?? {};
  if (typ !== evidenceType) return refuse('header.typ', 'WRONG_TYPE');
  if (alg !== 'ES256') return refuse('header.alg', 'UNSUPPORTED_ALGORITHM');
  if (crit !== undefined) return refuse('header.crit', 'UNKNOWN_MEMBER');
  const written = Array.isArray(x5c) && x5c.length <= maxCertificates ? x5c.map(base64) : [];
  const chain = written.map((der) => der && openCertificate(der)).filter((each) => each !== undefined);
  const [signer, ...others] = chain;
  if (signer === undefined || chain.length !== written.length) return refuse('header.x5c', 'MALFORMED');

  const content = readJsonObject(payload);
  if (content === undefined) return refuse('payload', 'MALFORMED');
  const anchors = openCertificates(trust);
  const failure = checkPath(signer, others, anchors, at ?? secondsOf(content), 'documentSigning');
  if (failure !== undefined) return refuse('header.x5c', failure.reason);
  try {
    await compactVerify(record as string, signer.publicKey, { algorithms: ['ES256'] });
  } catch {
    return refuse('signature', 'BAD_SIGNATURE');
  }
  const evidence = evidenceSchema.safeParse(content);
  if (evidence.success) return { evidence: evidence.data };
  const [first] = evidence.error.issues;
  return refuse(z.core.toDotPath(first?.path ?? []) || 'payload', 'MALFORMED');
};

function* checkSignatures(
  { signatures }: Evidence,
  trust: readonly Uint8Array[],
  at: Date | undefined,
): Generator<EvidenceProblem> {
  for (const [index, entry] of signatures.entries()) {
    const place = `signatures[${index}]`;
    const verified = verifySignature(Buffer.from(entry.cms, 'base64'), entry.text, {
      trust,
      at: at ?? new Date(entry.at),
    });
    if (!verified.ok) yield problem(`${place}.cms`, verified.reason);
    else if (verified.signer.serialNumber !== entry.serialNumber)
      yield problem(`${place}.cms`, 'ANOTHER_PERSON');
    // That it is for this transaction is the word of the service whose record this is.
    else if (
      entry.upstream === undefined &&
      Buffer.compare(verified.nonce ?? Buffer.of(), nonceOf(entry.msspTransId, entry.attempt)) !== 0
    )
      yield problem(`${place}.cms`, 'ANOTHER_TRANSACTION');
  }
}

/**
 * Verifies the evidence record of a process (`output.evidence`).
 *
 * @param evidence           A compact JWS, from anywhere.
 * @param options.roots      The trusted root certificates: PEM text, or a list of DER.
 * @param options.at         When all certificates must be valid. Default: each when it was used.
 * @param options.definition What the application sent to begin the process, as JSON. Without it is
 *   not known how many signatures a step needs.
 * @returns The content, or all that is wrong with it. Problems name places and never repeat values.
 * @throws TypeError When `roots` or `at` are not usable.
 */
export const verifyEvidence = async (
  evidence: string,
  {
    roots,
    at,
    definition,
  }: {
    readonly roots: string | readonly Uint8Array[];
    readonly at?: Date;
    readonly definition?: unknown;
  },
): Promise<EvidenceVerification> => {
  if (at !== undefined && Number.isNaN(at.getTime())) throw new TypeError('at: a valid date is needed');
  const trust = usableRoots(roots);
  if (trust === undefined)
    throw new TypeError('roots: at least one certificate, as PEM text or a list of DER, is needed');
  const opened = await openRecord(evidence, trust, at);
  if ('problem' in opened) return { ok: false, problems: [opened.problem] };
  const found = [
    ...checkSignatures(opened.evidence, trust, at),
    ...checkEntries(opened.evidence),
    ...(definition === undefined ? [] : checkDefinition(opened.evidence, definition)),
  ];
  // Two rules may find the same.
  const [first, ...more] = new Map(found.map((each) => [each.message, each])).values();
  return first === undefined
    ? { ok: true, evidence: opened.evidence }
    : { ok: false, problems: [first, ...more] };
};
