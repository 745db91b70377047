/**
 * Whether the certificate of a signature leads to a root, when the signature existed, and which level
 * of PAdES it has.
 *
 * Source: ETSI EN 319 142-1 section 6, ETSI EN 319 102-1 section 5.
 */
import { onlyAttribute } from '../../../packages/pki/src/certificate-fields.ts';
import {
  type Certificate,
  checkPath,
  hasIssued,
  openCertificates,
} from '../../../packages/pki/src/certificate-path.ts';
import type { DetachedSignature } from '../../../packages/pki/src/detached.ts';
import { objectIdentifiers } from '../../../packages/pki/src/object-identifiers.ts';
import {
  findStanding,
  type RevocationMaterial,
} from '../../../packages/pki/src/revocation-check.ts';
import { readSignedData } from '../../../packages/pki/src/signed-data.ts';
import { checkTimeStamp } from '../../../packages/pki/src/time-stamp-check.ts';

export type PadesLevel = 'B-B' | 'B-T' | 'B-LT';

export interface Trust {
  readonly trusted: boolean;
  /** When a time stamp that verifies says that the signature existed. */
  readonly timeStamp: Date | undefined;
  /** All certificates but the root were good then, by what the document has. */
  readonly isProven: boolean;
  readonly reasons: readonly string[];
}

export interface Judging {
  readonly anchors: readonly Certificate[];
  /** When it is judged. */
  readonly at: Date;
  readonly material: RevocationMaterial;
}

const id = objectIdentifiers;

const pathSentences = {
  UNTRUSTED_CHAIN: 'Its certificate does not lead to a root that is trusted.',
  CERTIFICATE_EXPIRED: 'Its certificate, or one above it, had ended.',
  CERTIFICATE_NOT_YET_VALID: 'Its certificate, or one above it, was not valid yet.',
  WRONG_PURPOSE: 'Its certificate is not for signatures.',
} as const;

/** The certificate and those above it, as far as they are known, without the root. */
const chainOf = (
  certificate: Certificate,
  others: readonly Certificate[],
  anchors: readonly Certificate[],
): readonly Certificate[] => {
  const chain: Certificate[] = [];
  let current: Certificate | undefined = certificate;
  const isAnchor = (each: Certificate): boolean =>
    anchors.some((anchor) => Buffer.compare(anchor.der, each.der) === 0);
  while (current !== undefined && !isAnchor(current) && chain.length < 5) {
    const last: Certificate = current;
    chain.push(last);
    const issuedBy = (each: Certificate): boolean =>
      !chain.includes(each) && hasIssued(each, last, { verifications: 1 });
    current = anchors.find(issuedBy) ?? others.find(issuedBy);
  }
  return chain;
};

/** What is known of all certificates of a chain at a time: revoked, good, or not known. */
const standingOf = (
  chain: readonly Certificate[],
  issuers: readonly Certificate[],
  { material, at: now }: Judging,
  at: Date,
): 'good' | 'unknown' | 'revoked' => {
  const all = chain.map((each) => findStanding(each, issuers, material, { at, now }));
  const isRevoked = all.some((each) => each?.revokedAt !== undefined && each.revokedAt <= at);
  if (isRevoked) return 'revoked';
  return all.every((each) => each !== undefined) ? 'good' : 'unknown';
};

/** Who signed a time stamp: the certificates in it. */
const certificatesIn = (token: Uint8Array): readonly Certificate[] =>
  openCertificates((readSignedData(token, 3)?.certificates ?? []).map(({ bytes }) => bytes));

/** The earliest time stamp that verifies, and whether its authority was good. */
const judgeStamps = (
  { timeStamps, signature, certificates }: DetachedSignature,
  judging: Judging,
) => {
  const { anchors, at } = judging;
  const found = timeStamps
    .map((token) => {
      const inside = certificatesIn(token);
      const others = [...inside, ...certificates];
      const time = checkTimeStamp(token, signature, { anchors, others, at });
      // The authority's own certificate is the one that has issued none of the others.
      const [own] = inside.filter((each) => !each.fields.isAuthority);
      const standing =
        own === undefined
          ? 'unknown'
          : standingOf(chainOf(own, others, anchors), [...anchors, ...others], judging, time ?? at);
      return { time, standing };
    })
    .filter(
      (each): each is { time: Date; standing: typeof each.standing } =>
        each.time !== undefined && each.time <= at && each.standing !== 'revoked',
    );
  return found.toSorted((one, other) => Number(one.time) - Number(other.time))[0];
};

/** Judges the certificate of a signature whose cryptography was checked. */
export const judgeTrust = (signature: DetachedSignature, judging: Judging): Trust => {
  const { certificate, certificates, timeStamps } = signature;
  const { anchors, at } = judging;
  const stamp = judgeStamps(signature, judging);
  const validAt = stamp?.time ?? at;
  const reasons: string[] = [];
  if (timeStamps.length > 0 && stamp === undefined)
    reasons.push('Its time stamp does not verify, or its authority is not trusted.');
  const failure = checkPath(certificate, certificates, anchors, validAt, 'anySignature');
  if (failure !== undefined) reasons.push(pathSentences[failure.reason]);
  const issuers = [...anchors, ...certificates];
  const chain = chainOf(certificate, certificates, anchors);
  const standing = standingOf(chain, issuers, judging, validAt);
  if (standing === 'revoked') reasons.push('Its certificate, or one above it, was revoked.');
  return {
    trusted: failure === undefined && standing !== 'revoked',
    timeStamp: stamp?.time,
    isProven: standing === 'good' && stamp?.standing === 'good',
    reasons,
  };
};

/** The name and the number of a person in a certificate. */
export const personOf = ({ fields }: Certificate) => ({
  name: onlyAttribute(fields.subject, id.commonName),
  serialNumber: onlyAttribute(fields.subject, id.serialNumber),
});
