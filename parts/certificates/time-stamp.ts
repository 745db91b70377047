/**
 * Makes time stamps: proof that something existed at a time, signed by a key for nothing else.
 *
 * Source: RFC 3161 section 2.4, RFC 5816 (ESSCertIDv2).
 */
import { hash } from 'node:crypto';
import {
  dotted,
  type Element,
  member,
  octets,
  readElement,
  smallNumber,
} from '../../packages/pki/src/ber.ts';
import { ecdsaWithSha256 } from '../../packages/pki/src/certificate.ts';
import { readCertificate } from '../../packages/pki/src/certificate-fields.ts';
import {
  boolean,
  context,
  encode,
  generalizedTime,
  namedBits,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  smallInteger,
  tags,
  wholeNumber,
} from '../../packages/pki/src/der.ts';
import {
  digestHashes,
  objectIdentifiers as id,
} from '../../packages/pki/src/object-identifiers.ts';
import type { ServiceKey } from '../../packages/pki/src/ports.ts';
import { randomBytesOf } from '../../packages/pki/src/random.ts';

const digestLengths = { sha256: 32, sha384: 48, sha512: 64 } as const;

/** PKIFailureInfo. */
const failures = {
  badAlgorithm: 0,
  badRequest: 2,
  badDataFormat: 5,
  unacceptedPolicy: 15,
  unacceptedExtension: 16,
} as const;
type Failure = keyof typeof failures;

interface Imprint {
  /** MessageImprint, DER: algorithm and digest. */
  readonly imprint: Uint8Array;
  /** INTEGER, DER. */
  readonly nonce?: Uint8Array | undefined;
  readonly withCertificates: boolean;
}

const sha256 = sequence(objectIdentifier(id.sha256), nullValue());
const attribute = (type: string, value: Uint8Array): Buffer =>
  sequence(objectIdentifier(type), setOf(value));

/** A TimeStampToken: CMS SignedData of version 3 over a TSTInfo. */
const createToken = async (
  key: ServiceKey,
  at: Date,
  { imprint, nonce, withCertificates }: Imprint,
): Promise<Buffer> => {
  const [certificate] = key.certificates;
  const fields = readCertificate(certificate);
  if (fields === undefined) throw new Error('the certificate for time stamps is unreadable');
  // 127 bits, so that it is positive.
  const serial = BigInt(`0x${randomBytesOf(16).toString('hex')}`) >> 1n;
  const info = sequence(
    smallInteger(1),
    objectIdentifier(id.anyPolicy),
    imprint,
    wholeNumber(serial),
    generalizedTime(at),
    // The clock of Redis, to a second.
    sequence(smallInteger(1)),
    ...(nonce === undefined ? [] : [nonce]),
  );
  const attributes = setOf(
    attribute(id.contentType, objectIdentifier(id.timeStampInfo)),
    attribute(id.messageDigest, octetString(hash('sha256', info, 'buffer'))),
    attribute(
      id.signingCertificateV2,
      sequence(sequence(sequence(octetString(hash('sha256', certificate, 'buffer'))))),
    ),
  );
  const signature = await key.privateKey.sign(attributes, 'ECDSA');
  // RFC 5652 5.4: what is signed has the tag of a SET OF, what is written the tag [0].
  attributes[0] = tags.context(0);
  return sequence(
    objectIdentifier(id.signedData),
    context(
      0,
      sequence(
        smallInteger(3),
        setOf(sha256),
        sequence(objectIdentifier(id.timeStampInfo), context(0, octetString(info))),
        ...(withCertificates ? [context(0, ...key.certificates)] : []),
        encode(
          tags.set,
          sequence(
            smallInteger(1),
            sequence(fields.issuer.bytes, fields.serialNumber.bytes),
            sha256,
            attributes,
            ecdsaWithSha256,
            octetString(signature),
          ),
        ),
      ),
    ),
  );
};

const refuse = (failure: Failure): Buffer =>
  sequence(sequence(smallInteger(2), namedBits(failures[failure])));

const readImprint = (element: Element | undefined): Uint8Array | Failure => {
  const hashName = digestHashes[dotted(element?.children[0]?.children[0]) ?? ''];
  const digest = octets(element?.children[1]);
  if (element?.tag !== tags.sequence || digest === undefined) return 'badDataFormat';
  if (hashName === undefined) return 'badAlgorithm';
  return digest.length === digestLengths[hashName] ? element.bytes : 'badDataFormat';
};

/** Answers a TimeStampReq. @param request DER, from anywhere. @returns A TimeStampResp, DER. */
export const answerTimeStampRequest = async (
  request: Uint8Array,
  key: ServiceKey,
  at: Date,
): Promise<Uint8Array> => {
  const element = readElement(request);
  const [version, imprintElement, ...rest] = element?.children ?? [];
  if (element?.tag !== tags.sequence || smallNumber(version) !== 1) return refuse('badRequest');
  const imprint = readImprint(imprintElement);
  if (typeof imprint === 'string') return refuse(imprint);
  const find = (tag: number): Element | undefined => rest.find((each) => each.tag === tag);
  const policy = dotted(find(tags.objectIdentifier));
  const nonce = find(tags.integer)?.bytes;
  if (policy !== undefined && policy !== id.anyPolicy) return refuse('unacceptedPolicy');
  if (find(tags.context(0)) !== undefined) return refuse('unacceptedExtension');
  if (nonce !== undefined && nonce.length > 70) return refuse('badRequest');
  const withCertificates = find(tags.boolean)?.content[0] === 0xff;
  const token = await createToken(key, at, { imprint, nonce, withCertificates });
  return sequence(sequence(smallInteger(0)), token);
};

/** A TimeStampReq for SHA-256 of the content. @param nonce 8 to 16 bytes. */
export const createTimeStampRequest = (content: Uint8Array, nonce: Uint8Array): Uint8Array =>
  sequence(
    smallInteger(1),
    sequence(sha256, octetString(hash('sha256', content, 'buffer'))),
    wholeNumber(BigInt(`0x${Buffer.from(nonce).toString('hex')}`)),
    boolean(true),
  );

/** @returns The token of a TimeStampResp that grants one; undefined for every other. */
export const readTimeStampResponse = (response: Uint8Array): Uint8Array | undefined => {
  const element = readElement(response);
  const status = smallNumber(member(element, 0, tags.sequence)?.children[0]);
  return status === 0 || status === 1 ? member(element, 1, tags.sequence)?.bytes : undefined;
};
