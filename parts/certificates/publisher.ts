/**
 * What the authorities publish about their certificates. It is signed once and handed out to
 * everybody until it is half as old as it may become, or something new was revoked.
 *
 * A certificate that has ended stays in the list for a day more, so that at least one list of after
 * its end names it (RFC 5280 section 5).
 */
import { hash } from 'node:crypto';
import { createBoundedCache } from '../../packages/pki/src/bounded-cache.ts';
import { isIssuer } from '../../packages/pki/src/certificate-id.ts';
import type { KeyCustody, NamedAuthority, RevokedSerial } from '../../packages/pki/src/ports.ts';
import { createRevocationList } from './crl.ts';
import { createOcspAnswer, createOcspFailure, readOcspRequest } from './ocsp.ts';

const listLastsMs = 86_400_000;
const answerLastsMs = 3_600_000;
const cachedAnswers = 10_000;

interface Signed {
  readonly until: number;
  readonly bytes: Promise<Uint8Array>;
}

interface Times {
  readonly thisUpdate: Date;
  readonly nextUpdate: Date;
}

export type Publisher = ReturnType<typeof createPublisher>;

export const createPublisher = ({
  custody,
  now,
}: {
  readonly custody: Pick<KeyCustody, 'authorities' | 'revokedSerials' | 'statusOf'>;
  readonly now: () => number;
}) => {
  const answers = createBoundedCache<Signed>(cachedAnswers);
  /** The lists by authority, each with the revocations that it was made from. */
  const lists = new Map<string, Signed & { readonly revoked: readonly RevokedSerial[] }>();

  const signFor = (lastsMs: number, sign: (times: Times) => Promise<Uint8Array>): Signed => {
    const at = now();
    const times = { thisUpdate: new Date(at), nextUpdate: new Date(at + lastsMs) };
    return { until: at + lastsMs / 2, bytes: sign(times) };
  };

  const find = async (id: string): Promise<NamedAuthority | undefined> =>
    (await custody.authorities()).find((authority) => authority.id === id);

  return {
    /** The certificate of an authority, DER. @param id `issuing-1`. */
    certificate: async (id: string): Promise<Uint8Array | undefined> =>
      (await find(id))?.certificate,

    /** Its list of revoked certificates, DER, good for a day. */
    revocationList: async (id: string): Promise<Uint8Array | undefined> => {
      const authority = await find(id);
      if (authority === undefined) return undefined;
      const revoked = await custody.revokedSerials();
      const present = lists.get(id);
      if (present?.revoked === revoked && present.until > now()) return present.bytes;
      const named = revoked.filter(
        (each) => each.authority === id && each.notAfter + listLastsMs > now(),
      );
      const signed = signFor(listLastsMs, (times) => createRevocationList(authority, named, times));
      lists.set(id, { ...signed, revoked });
      signed.bytes.catch(() => lists.delete(id));
      return signed.bytes;
    },

    /**
     * Returns a DER-encoded OCSP response, valid for an hour. Bytes that are not a request get
     * `malformedRequest`.
     */
    ocspAnswer: async (request: Uint8Array): Promise<Uint8Array> => {
      const ids = readOcspRequest(request);
      const [first] = ids ?? [];
      if (ids === undefined || first === undefined) return createOcspFailure('malformedRequest');
      const authority = (await custody.authorities()).find(({ certificate }) =>
        isIssuer(certificate, first),
      );
      if (authority === undefined || !ids.every((each) => isIssuer(authority.certificate, each)))
        return createOcspFailure('unauthorized');
      const asked = await Promise.all(
        ids.map(async (id) => ({ id, status: await custody.statusOf(authority, id.serial) })),
      );
      const states = asked
        .map(({ status }) => (typeof status === 'string' ? status : status.at))
        .join(' ');
      const digest = hash('sha256', Buffer.concat(ids.map(({ bytes }) => bytes)), 'base64');
      const key = `${digest} ${states}`;
      const sign = (): Signed => {
        const signed = signFor(answerLastsMs, (times) => createOcspAnswer(authority, asked, times));
        signed.bytes.catch(() => answers.delete(key));
        return signed;
      };
      const present = answers.get(key, sign);
      if (present.until > now()) return present.bytes;
      answers.delete(key);
      return answers.get(key, sign).bytes;
    },
  };
};
