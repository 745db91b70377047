/**
 * What makes a signature outlive its certificate: a time stamp of the signature value, and the
 * lists that say that the certificate was not revoked then. Both are put into the signature.
 */
import {
  hasIssued,
  openCertificate,
  openCertificates,
} from '../../packages/pki/src/certificate-path.ts';
import { attachProof, signatureValueOf } from '../../packages/pki/src/cms.ts';
import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import { randomBytesOf } from '../../packages/pki/src/random.ts';
import { readSignedData } from '../../packages/pki/src/signed-data.ts';
import { checkTimeStamp } from '../../packages/pki/src/time-stamp-check.ts';
import { verifySignature } from '../../packages/pki/src/verify.ts';
import type { Publisher } from './publisher.ts';
import {
  answerTimeStampRequest,
  createTimeStampRequest,
  readTimeStampResponse,
} from './time-stamp.ts';

export interface LongTermSignature {
  /** CMS with time stamp and lists, DER. */
  readonly signature: Uint8Array;
  /** What the time stamp says. */
  readonly timeStamp: Date;
  /** The certificate was over or revoked before the time stamp, so the signature proves nothing. */
  readonly tooLate: 'CERTIFICATE_EXPIRED' | 'CERTIFICATE_REVOKED' | undefined;
}

/** An authority for time stamps: takes a TimeStampReq, gives a TimeStampResp. */
export type AskTimeStamp = (request: Uint8Array) => Promise<Uint8Array>;

/** @returns The service's own authority. */
export const createTimeStampAuthority =
  (custody: Pick<KeyCustody, 'timeStampKey'>, now: () => number): AskTimeStamp =>
  async (request) =>
    answerTimeStampRequest(request, await custody.timeStampKey(), new Date(now()));

/**
 * @param ask   Who makes the time stamps.
 * @param trust Its roots, DER.
 * @returns Takes a signature and what was signed.
 * @throws When it gives none, or one that does not verify.
 */
export const createLongTerm =
  ({
    ask,
    trust,
    publisher,
    custody,
    now,
  }: {
    readonly ask: AskTimeStamp;
    readonly trust: () => Promise<readonly Uint8Array[]>;
    readonly publisher: Pick<Publisher, 'revocationList'>;
    readonly custody: Pick<KeyCustody, 'authorities' | 'trust'>;
    readonly now: () => number;
  }) =>
  async (cms: Uint8Array, signedData: Uint8Array): Promise<LongTermSignature> => {
    const value = signatureValueOf(cms);
    if (value === undefined) throw new Error('the signature is no CMS of one signer');
    const response = await ask(createTimeStampRequest(value, randomBytesOf(16)));
    const token = readTimeStampResponse(response);
    const timeStampTrust = await trust();
    const anchors = openCertificates(timeStampTrust);
    // A minute, because the clock of the other authority may differ.
    const at = new Date(now() + 60_000);
    const timeStamp = token && checkTimeStamp(token, value, { anchors, at });
    if (token === undefined || timeStamp === undefined)
      throw new Error('the authority for time stamps gave none that verifies');
    const inside = openCertificates(
      (readSignedData(cms)?.certificates ?? []).map(({ bytes }) => bytes),
    );
    // Also the former root, which is not inside: it has issued the cross-certificate.
    const issuers = (await custody.authorities()).filter(({ certificate }) => {
      const issuer = openCertificate(certificate);
      return issuer && inside.some((each) => hasIssued(issuer, each, { verifications: 1 }));
    });
    const lists = await Promise.all(issuers.map(({ id }) => publisher.revocationList(id)));
    const present = lists.filter((list) => list !== undefined);
    const signature = attachProof(cms, { timeStamp: token, lists: present });
    // Of another service's signature only a part can be judged here.
    const judged = { trust: await custody.trust(), timeStampTrust, at, revocation: {} };
    const verified = verifySignature(signature, signedData, judged);
    const reason = verified.ok ? undefined : verified.reason;
    const isTooLate = reason === 'CERTIFICATE_EXPIRED' || reason === 'CERTIFICATE_REVOKED';
    return { signature, timeStamp, tooLate: isTooLate ? reason : undefined };
  };
