/**
 * Reads OCSP requests and writes the answers.
 *
 * The authority itself signs them, so that a verifier needs nothing but its certificate. They are
 * signed in advance and for everybody, so they have no nonce (RFC 5019 section 4).
 *
 * Source: RFC 6960 section 4.
 */
import { member, readElement } from '../../packages/pki/src/ber.ts';
import { type Authority, issuerOf, signBody } from '../../packages/pki/src/certificate.ts';
import { type CertificateId, readCertificateId } from '../../packages/pki/src/certificate-id.ts';
import {
  context,
  encode,
  enumerated,
  generalizedTime,
  objectIdentifier,
  octetString,
  sequence,
  tags,
} from '../../packages/pki/src/der.ts';
import { objectIdentifiers as id } from '../../packages/pki/src/object-identifiers.ts';
import type { CertificateStatus } from '../../packages/pki/src/ports.ts';
import { reasonCodes } from './crl.ts';

/** More than any client asks for at once. */
const maxIds = 20;

/**
 * Reads an OCSP request. Its signature and its extensions are not looked at.
 *
 * @returns Undefined for bytes that are not a request.
 */
export const readOcspRequest = (der: Uint8Array): readonly CertificateId[] | undefined => {
  const body = member(readElement(der), 0, tags.sequence);
  // Version [0] and the requestor's name [1] may stand before it.
  const list = body?.children.find(({ tag }) => tag === tags.sequence);
  const ids = list?.children.map((request) => readCertificateId(member(request, 0, tags.sequence)));
  if (ids === undefined || ids.length === 0 || ids.length > maxIds) return undefined;
  return ids.every((each) => each !== undefined) ? ids : undefined;
};

/** OCSPResponseStatus; see RFC 6960 2.3. */
const failures = { malformedRequest: 1, internalError: 2, tryLater: 3, unauthorized: 6 } as const;

/** @param why `unauthorized`: it is not about certificates of ours (RFC 5019 2.2.3). */
export const createOcspFailure = (why: keyof typeof failures): Uint8Array =>
  sequence(enumerated(failures[why]));

const statusOf = (status: CertificateStatus): Buffer => {
  if (status === 'good') return encode(tags.contextPrimitive(0));
  if (status === 'unknown') return encode(tags.contextPrimitive(2));
  const { at, reason } = status;
  const because = reason === 'unspecified' ? [] : [context(0, enumerated(reasonCodes[reason]))];
  return context(1, generalizedTime(new Date(at)), ...because);
};

/** @param asked All with the name and key of this authority as their issuer. */
export const createOcspAnswer = async (
  authority: Authority,
  asked: readonly { readonly id: CertificateId; readonly status: CertificateStatus }[],
  { thisUpdate, nextUpdate }: { readonly thisUpdate: Date; readonly nextUpdate: Date },
): Promise<Uint8Array> => {
  const singles = asked.map(({ id: { bytes }, status }) =>
    sequence(
      bytes,
      statusOf(status),
      generalizedTime(thisUpdate),
      context(0, generalizedTime(nextUpdate)),
    ),
  );
  const body = sequence(
    context(1, issuerOf(authority).name),
    generalizedTime(thisUpdate),
    sequence(...singles),
  );
  const answer = sequence(
    body,
    ...(await signBody(body, authority.privateKey)),
    context(0, sequence(authority.certificate)),
  );
  return sequence(
    enumerated(0),
    context(0, sequence(objectIdentifier(id.basicOcspResponse), octetString(answer))),
  );
};
