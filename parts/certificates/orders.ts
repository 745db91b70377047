/**
 * Orders of operators about certificates. Each is in the audit log before it is done. Which role
 * may give it, the routes have checked.
 */
import { X509Certificate } from 'node:crypto';
import { type Audit, doneBy } from '../../src/operators/audit.ts';
import type { Belonging, NumberOwners } from '../../src/operators/number-owners.ts';
import type { Operator } from '../../src/operators/operator.ts';
import type {
  CertificateTarget,
  IssuedCertificate,
  KeyCustody,
  RevocationReason,
  RollOverKind,
} from '../../src/pki/ports.ts';

/** `nothing`: no certificate of that target can be revoked or renewed. */
export type CertificateError = 'unknown' | 'nothing';
export type CertificateResult = { readonly done: number } | { readonly refused: CertificateError };

/** A root or an issuing authority. */
export interface ShownAuthority {
  /** As under `/pki`: `issuing-1`. */
  readonly id: string;
  /** Of its certificate: SHA-256, upper-case hex with colons. */
  readonly fingerprint: string;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
}

export type Certificates = ReturnType<typeof createCertificates>;

export const createCertificates = ({
  custody,
  owners,
  audit,
  now,
}: {
  readonly custody: KeyCustody;
  /** Of parts. */
  readonly owners: readonly NumberOwners[];
  readonly audit: Audit;
  readonly now: () => number;
}) => {
  /** Oldest first. */
  const list = (target: CertificateTarget): Promise<readonly IssuedCertificate[]> =>
    custody.certificatesOf(target);

  const isGood = ({ notAfter, revocation }: IssuedCertificate): boolean =>
    revocation === undefined && notAfter > now();

  return {
    list,

    /** What the owner of a number would lose with it, beside certificates. @param msisdn Digits. */
    belongingsOf: (msisdn: string): Promise<readonly Belonging[]> =>
      Promise.all(owners.map((each) => each.belongingOf(msisdn))),

    /** Roots, then issuing authorities; of each kind the last is used for what is issued. */
    authorities: async (): Promise<readonly ShownAuthority[]> =>
      (await custody.authorities()).map(({ id, certificate }) => {
        const { fingerprint256, validFrom, validTo } = new X509Certificate(certificate);
        const times = { notBefore: Date.parse(validFrom), notAfter: Date.parse(validTo) };
        return { id, fingerprint: fingerprint256, ...times };
      }),

    /**
     * Makes the next authority, or key of the service, before its time.
     *
     * @param why In the operator's own words, here and below.
     */
    rollOver: async (
      by: Operator,
      kind: RollOverKind,
      why?: string,
    ): Promise<{ readonly id: string }> => {
      await audit.record({
        ...doneBy(by),
        action: 'authority-roll-over',
        target: kind,
        reason: why,
      });
      return { id: await custody.rollOver(kind) };
    },

    revoke: async (
      by: Operator,
      target: CertificateTarget,
      reason: RevocationReason,
      why?: string,
    ): Promise<CertificateResult> => {
      const found = await list(target);
      if (found.length === 0) return { refused: 'unknown' };
      let done = 0;
      // A renewal may bring another one meanwhile.
      for (
        let good = found.filter(isGood);
        good.length > 0;
        good = (await list(target)).filter(isGood)
      ) {
        for (const { serial } of good) {
          const entry = { ...doneBy(by), target: serial, reason: why, details: { reason } };
          await audit.record({ ...entry, action: 'certificate-revoke' });
          done += (await custody.revokeCertificate({ serial }, reason)).length;
        }
      }
      return done === 0 ? { refused: 'nothing' } : { done };
    },

    /** Lets devices whose certificate was revoked have a new key. */
    renew: async (by: Operator, msisdn: string, why?: string): Promise<CertificateResult> => {
      const found = await list({ msisdn });
      if (found.length === 0) return { refused: 'unknown' };
      const blocked = found.filter(
        (each) => each.revocation !== undefined && custody.isRevoked(each),
      );
      if (blocked.length === 0) return { refused: 'nothing' };
      for (const { serial } of blocked) {
        await audit.record({
          ...doneBy(by),
          action: 'certificate-renew',
          target: serial,
          reason: why,
        });
      }
      return { done: await custody.renewCertificates(msisdn) };
    },

    /**
     * The number has a new owner. Phones of the former one are removed. `done` counts the
     * certificates that were revoked.
     */
    reassign: async (
      by: Operator,
      msisdn: string,
      why?: string,
    ): Promise<{ readonly done: number }> => {
      // A person is named by the serialNumber, which is a pseudonym.
      const target = await custody.serialNumberOf(msisdn);
      await audit.record({ ...doneBy(by), action: 'number-reassign', target, reason: why });
      const revoked = await custody.reassignNumber(msisdn);
      for (const each of owners) await each.forgetOwner(msisdn);
      return { done: revoked.length };
    },
  };
};
