/**
 * What a signature has shown about a person: kept with the grant that came of it, and the source of acr, amr and claims.
 */
import type { LocationError, LocationReport } from '../../machines/outcome.ts';
import { randomBytesOf } from '../pki/random.ts';
import type { AcrValue } from '../registry/oauth-client.ts';
import type { Tenant } from './tenant.ts';

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

/** Written down with the grant's name already in it: whoever carries it out does the same. */
export interface SignedEnding {
  readonly how: 'signed';
  readonly grantId: string;
  readonly evidence: LoginEvidence;
}

export const signedEnding = (evidence: LoginEvidence): SignedEnding => ({
  how: 'signed',
  grantId: randomBytesOf(32).toString('base64url'),
  evidence,
});

/** Can be repeated. @param seconds How long evidence is kept: as long as a token of the grant may live. */
export const keepGrant = async (
  tenant: Tenant,
  { grantId, evidence }: SignedEnding,
  {
    clientId,
    scope,
    seconds,
  }: { readonly clientId: string; readonly scope: string; readonly seconds: number },
): Promise<void> => {
  const { Grant } = await tenant.provider();
  const grant = new Grant({ accountId: evidence.msisdn, clientId });
  grant.jti = grantId;
  grant.addOIDCScope(scope);
  await Promise.all([tenant.store.put('evidence', grantId, evidence, seconds), grant.save()]);
};
