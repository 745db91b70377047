/**
 * What lets a signature outlive its certificates, for parts that put it into documents: time stamps
 * of the service or of the authority that the configuration names, and what says now that none of
 * the certificates was revoked.
 */
import { hash } from 'node:crypto';
import { readCertificate } from '../../packages/pki/src/certificate-fields.ts';
import {
  hasIssued,
  openCertificate,
  openCertificates,
} from '../../packages/pki/src/certificate-path.ts';
import { nullValue, objectIdentifier, octetString, sequence } from '../../packages/pki/src/der.ts';
import { objectIdentifiers as id } from '../../packages/pki/src/object-identifiers.ts';
import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import { randomBytesOf } from '../../packages/pki/src/random.ts';
import { usableRoots } from '../../packages/pki/src/roots.ts';
import { checkTimeStamp } from '../../packages/pki/src/time-stamp-check.ts';
import { readSettingFile, SettingFileError } from '../../src/environment/setting-file.ts';
import type { PartSettings } from '../../src/part/rooms.ts';
import type { certificatesConfiguration } from './configuration.ts';
import { type AskTimeStamp, createTimeStampAuthority } from './long-term.ts';
import { createPublisher } from './publisher.ts';
import { createTimeStampRequest, readTimeStampResponse } from './time-stamp.ts';

const timeoutMs = 5000;
/** A time stamp with the certificates of its authority has some 6 kB. */
const maxReplyBytes = 65_536;
/** The clock of the other authority may differ. */
const aheadMs = 60_000;

const readReply = async (body: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (length > maxReplyBytes)
      throw new Error('the reply of the authority for time stamps is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
};

/** Asks the time-stamping authority at the URL, over HTTP (RFC 3161 3.4). */
const askAt =
  (url: string): AskTimeStamp =>
  async (request) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/timestamp-query' },
      body: Uint8Array.from(request),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) throw new Error(`the authority for time stamps answered ${response.status}`);
    if (response.body === null) throw new Error('the authority for time stamps sent no reply');
    return readReply(response.body);
  };

/** @throws SettingFileError */
const readRoots = (file: string): readonly Uint8Array[] => {
  const key = 'pki.timeStampAuthority.rootsFile';
  const roots = usableRoots(readSettingFile(key, file).toString('latin1'));
  if (roots !== undefined) return roots;
  throw new SettingFileError(key, 'the file has no usable certificate (PEM)');
};

interface ProofRooms {
  readonly settings: PartSettings<(typeof certificatesConfiguration)['shapes']>;
  readonly custody: Pick<KeyCustody, 'timeStampKey' | 'trust'>;
  readonly now: () => number;
}

/**
 * Who makes the time stamps of signatures, and its roots.
 *
 * @param own The service's own authority.
 * @throws SettingFileError
 */
export const openTimeStamps = (
  { settings, custody, now }: ProofRooms,
  own: AskTimeStamp = createTimeStampAuthority(custody, now),
): { readonly ask: AskTimeStamp; readonly trust: () => Promise<readonly Uint8Array[]> } => {
  const { timeStampAuthority } = settings.pki;
  if (timeStampAuthority === undefined) return { ask: own, trust: () => custody.trust() };
  const roots = readRoots(timeStampAuthority.rootsFile);
  return { ask: askAt(timeStampAuthority.url), trust: async () => roots };
};

/** An OCSPRequest for one certificate (RFC 6960 4.1.1), with SHA-1 as all responders know it. */
const ocspRequestFor = (certificate: Uint8Array, issuer: Uint8Array): Uint8Array => {
  const fields = readCertificate(certificate);
  const above = readCertificate(issuer);
  if (fields === undefined || above === undefined) throw new Error('a certificate is unreadable');
  const hashOf = (bytes: Uint8Array): Buffer => octetString(hash('sha1', bytes, 'buffer'));
  const certificateId = sequence(
    sequence(objectIdentifier(id.sha1), nullValue()),
    hashOf(above.subject.bytes),
    hashOf(above.publicKey),
    fields.serialNumber.bytes,
  );
  return sequence(sequence(sequence(sequence(certificateId))));
};

export interface Revocation {
  /** OCSP responses and lists, DER. */
  readonly ocsps: readonly Uint8Array[];
  readonly crls: readonly Uint8Array[];
}

export interface Proofs {
  /**
   * @returns A TimeStampToken over the bytes, DER.
   * @throws When the authority gives none, or one that does not verify.
   */
  stamp(content: Uint8Array): Promise<Uint8Array>;
  /**
   * What says of each of these certificates (DER) that it was not revoked: an OCSP response for that
   * of a person, the list of its root for others. Those of other authorities are passed over.
   */
  revocationOf(certificates: readonly Uint8Array[]): Promise<Revocation>;
}

/** @throws SettingFileError */
export const openProofs = (
  rooms: ProofRooms & {
    readonly custody: Pick<
      KeyCustody,
      'timeStampKey' | 'trust' | 'authorities' | 'revokedSerials' | 'statusOf'
    >;
  },
): Proofs => {
  const { custody, now } = rooms;
  const { ask, trust } = openTimeStamps(rooms);
  const publisher = createPublisher({ custody, now });
  return {
    stamp: async (content) => {
      const token = readTimeStampResponse(
        await ask(createTimeStampRequest(content, randomBytesOf(16))),
      );
      const anchors = openCertificates(await trust());
      const at = new Date(now() + aheadMs);
      if (token === undefined || checkTimeStamp(token, content, { anchors, at }) === undefined)
        throw new Error('the authority for time stamps gave none that verifies');
      return token;
    },
    revocationOf: async (certificates) => {
      const authorities = await custody.authorities();
      const asked = new Map<string, Uint8Array>();
      const lists = new Set<string>();
      for (const der of certificates) {
        const certificate = openCertificate(der);
        const issuer = authorities.find((each) => {
          const opened = openCertificate(each.certificate);
          return opened && certificate && hasIssued(opened, certificate, { verifications: 1 });
        });
        if (issuer === undefined || Buffer.compare(issuer.certificate, der) === 0) continue;
        if (issuer.id.startsWith('root-')) lists.add(issuer.id);
        else
          asked.set(Buffer.from(der).toString('base64'), ocspRequestFor(der, issuer.certificate));
      }
      const crls = await Promise.all([...lists].map((each) => publisher.revocationList(each)));
      return {
        ocsps: await Promise.all([...asked.values()].map(publisher.ocspAnswer)),
        crls: crls.filter((each) => each !== undefined),
      };
    },
  };
};
