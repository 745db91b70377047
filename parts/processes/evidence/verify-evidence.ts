/**
 * Verifies an evidence record, offline, from the root certificates.
 *
 * 1. The JWS: its form, the chain of its certificates to a root, their purpose, its signature. When
 *    one of them is wrong, nothing in the record is looked at.
 * 2. Each CMS: it signs exactly the text of its entry, with the key of the person of the entry, for
 *    the transaction of the entry.
 * 3. The entries together: no signature counts twice, and the steps were in order.
 * 4. With the definition: it is the one that the record names, each signer is in it with the text,
 *    and each step has as many signatures as it needs.
 *
 * Roots count for the service that they belong to. Our record, and each entry of a person whose
 * phone is here, must lead to our roots; the entry of a person behind a gateway must lead to the
 * roots of that gateway. Otherwise the operator of the other service could make records in our
 * name: it has keys under a root that the reader of the record trusts, too.
 *
 * Certificates are short-lived and records are not, so each certificate must have been valid when
 * the record says that it was used. `at` asks for another time.
 */
import { Buffer } from 'node:buffer';
import { compactVerify } from 'jose';
import { z } from 'zod';
import {
  checkPath,
  openCertificate,
  openCertificates,
} from '../../../packages/pki/src/certificate-path.ts';
import { usableRoots } from '../../../packages/pki/src/roots.ts';
import { verifySignature } from '../../../packages/pki/src/verify.ts';
import { readJsonObject } from '../../../packages/relying-party/src/token.ts';
import { nonceOf } from '../../../src/transactions/ids.ts';
import type { DefinitionAddition } from '../definition/addition.ts';
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
  const refuse = (place: string, reason: ProblemReason): Opened => ({
    problem: problem(place, reason),
  });
  const segments = typeof record === 'string' ? record.split('.') : [];
  const [header, payload, signature] = segments.map(decode);
  if (segments.length !== 3 || !header || !payload || !signature) return refuse('jws', 'NO_JWS');
  const { alg, typ, x5c, crit } = readJsonObject(header) ?? {};
  if (typ !== evidenceType) return refuse('header.typ', 'WRONG_TYPE');
  if (alg !== 'ES256') return refuse('header.alg', 'UNSUPPORTED_ALGORITHM');
  if (crit !== undefined) return refuse('header.crit', 'UNKNOWN_MEMBER');
  const written = Array.isArray(x5c) && x5c.length <= maxCertificates ? x5c.map(base64) : [];
  const chain = written
    .map((der) => der && openCertificate(der))
    .filter((each) => each !== undefined);
  const [signer, ...others] = chain;
  if (signer === undefined || chain.length !== written.length)
    return refuse('header.x5c', 'MALFORMED');

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

interface Trust {
  readonly service: readonly Uint8Array[];
  /** By name. */
  readonly gateways: ReadonlyMap<string, readonly Uint8Array[]>;
}

function* checkSignatures(
  { signatures }: Evidence,
  { service, gateways }: Trust,
  at: Date | undefined,
): Generator<EvidenceProblem> {
  for (const [index, entry] of signatures.entries()) {
    const place = `signatures[${index}]`;
    const trust = entry.upstream === undefined ? service : gateways.get(entry.upstream.gateway);
    if (trust === undefined) {
      yield problem(`${place}.upstream.gateway`, 'NO_GATEWAY_ROOTS');
      continue;
    }
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

/** PEM text, or a list of DER. */
type Roots = string | readonly Uint8Array[];

const rootsIn = (member: string, given: Roots): readonly Uint8Array[] => {
  const roots = usableRoots(given);
  if (roots !== undefined) return roots;
  throw new TypeError(
    `${member}: at least one certificate, as PEM text or a list of DER, is needed`,
  );
};

/**
 * Whether a root of the service is one of a gateway, too, as when all roots are in one file: then
 * the other service would count as ours.
 */
export const haveCommonRoot = (
  service: readonly Uint8Array[],
  gateways: Iterable<readonly Uint8Array[]>,
): boolean =>
  [...gateways].flat().some((root) => service.some((each) => Buffer.compare(each, root) === 0));

/** @throws TypeError */
const readTrust = ({ serviceRoots, gatewayRoots = {}, ...others }: EvidenceOptions): Trust => {
  if ('roots' in others)
    throw new TypeError(
      'roots: is not taken any more, because it does not say whose they are. Give those of the service in serviceRoots, and those of each gateway by its name in gatewayRoots',
    );
  const service = rootsIn('serviceRoots', serviceRoots);
  const named = Object.entries(gatewayRoots);
  const gateways = new Map(
    named.map(([name, roots]) => [name, rootsIn(`gatewayRoots.${name}`, roots)]),
  );
  if (haveCommonRoot(service, gateways.values()))
    throw new TypeError('gatewayRoots: has a certificate that is in serviceRoots, too');
  return { service, gateways };
};

export interface EvidenceOptions {
  /** The roots of the service whose record it is: PEM text, or a list of DER. */
  readonly serviceRoots: Roots;
  /** The roots of other services, by the name of the gateway (`upstream.gateway` of an entry). */
  readonly gatewayRoots?: Readonly<Record<string, Roots>> | undefined;
  /** When all certificates must be valid. Default: each when it was used. */
  readonly at?: Date;
  /**
   * What the application sent to begin the process, as JSON. Without it is not known how many
   * signatures a step needs.
   */
  readonly definition?: unknown;
}

/**
 * Verifies the evidence record of a process (`output.evidence`).
 *
 * @param evidence A compact JWS, from anywhere.
 * @returns The content, or all that is wrong with it. Problems name places and never repeat values.
 * @throws TypeError When the roots or `at` are not usable.
 */
export type VerifyEvidence = (
  evidence: string,
  options: EvidenceOptions,
) => Promise<EvidenceVerification>;

/** @param addition Members of another part in definitions and records (addition.ts). */
export const createVerifyEvidence =
  (addition?: DefinitionAddition): VerifyEvidence =>
  async (evidence, options) => {
    const { at, definition } = options;
    if (at !== undefined && Number.isNaN(at.getTime()))
      throw new TypeError('at: a valid date is needed');
    const trust = readTrust(options);
    const opened = await openRecord(evidence, trust.service, at);
    if ('problem' in opened) return { ok: false, problems: [opened.problem] };
    const found = [
      ...checkSignatures(opened.evidence, trust, at),
      ...checkEntries(opened.evidence),
      ...(definition === undefined ? [] : checkDefinition(opened.evidence, definition, addition)),
    ];
    // Two rules may find the same.
    const [first, ...more] = new Map(found.map((each) => [each.message, each])).values();
    return first === undefined
      ? { ok: true, evidence: opened.evidence }
      : { ok: false, problems: [first, ...more] };
  };

/** Of processes without members of another part. */
export const verifyEvidence = createVerifyEvidence();
