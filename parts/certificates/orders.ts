/**
 * Orders of operators about certificates. Each is written to the audit log before it is done. The
 * routes have checked the role of the operator.
 */
import { X509Certificate } from 'node:crypto';
import type {
  CertificateTarget,
  IssuedCertificate,
  KeyCustody,
  RevocationReason,
  RollOverKind,
} from '../../packages/pki/src/ports.ts';
import { type Audit, doneBy } from '../../src/console/operators/audit.ts';
import type { Belonging, NumberOwners } from '../../src/console/operators/number-owners.ts';
import type { Operator } from '../../src/console/operators/operator.ts';

/** `nothing`: no certificate of that target can be revoked or renewed. */
export type CertificateError = 'unknown' | 'nothing';
export type CertificateResult = { readonly done: number } | { readonly refused: CertificateError };

/** A root or an issuing authority. */
export interface ShownAuthority {
  /** The id that the addresses under `/pki` have: `issuing-1`. */
  readonly id: string;
  /** The SHA-256 fingerprint of its certificate, in upper-case hex with colons. */
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
  /** The {@link NumberOwners} of all parts. */
  readonly owners: readonly NumberOwners[];
  readonly audit: Audit;
  readonly now: () => number;
}) => {
  /** The certificates of a target, oldest first. */
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
     * Makes the next authority, or the next key of the service, before the regular time.
     *
     * @param why The reason in the operator's own words, here and below.
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
      // A renewal may issue another certificate meanwhile.
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

    /** Allows devices whose certificate was revoked to get a new key. */
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
     * Gives a number to a new owner. The phones of the former owner are removed. `done` is the
     * number of revoked certificates.
     */
    reassign: async (
      by: Operator,
      msisdn: string,
      why?: string,
    ): Promise<{ readonly done: number }> => {
      // The audit log names a person by the serialNumber, which is a pseudonym.
      const target = await custody.serialNumberOf(msisdn);
      await audit.record({ ...doneBy(by), action: 'number-reassign', target, reason: why });
      const revoked = await custody.reassignNumber(msisdn);
      for (const each of owners) await each.forgetOwner(msisdn);
      return { done: revoked.length };
    },
  };
};
