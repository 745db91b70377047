/**
 * What a signature has shown about a person: kept with the grant that came of it, and the source of acr, amr and claims.
 */
import type { LocationError, LocationReport } from '../../machines/outcome.ts';
import type { AcrValue } from '../registry/oauth-client.ts';

/** RFC 8176 has no values for mobile signatures; these are the field's own. */
export const amrValues = ['mid_sim', 'mid_app', 'mid_otp', 'mid_geo'] as const;
export type AmrValue = (typeof amrValues)[number];

export interface LoginEvidence {
  /** Digits without plus; also the account id. */
  readonly msisdn: string;
  /** Seconds since the epoch. */
  readonly at: number;
  readonly acr: AcrValue;
  readonly amr: readonly AmrValue[];
  /** Of the user's certificate; undefined for a one-time password. */
  readonly serialNumber: string | undefined;
  /** CMS SignedData with certificates, Base64. */
  readonly cms: string | undefined;
  readonly location: LocationReport | LocationError | undefined;
}
