/**
 * What a signature proves about a person: the source of acr, amr and claims, kept with the grant.
 */
import { randomBytesOf } from '../../packages/pki/src/random.ts';
import type { LocationError, LocationReport } from '../../packages/protocol/src/outcome.ts';
import type { ProfileName } from '../../packages/protocol/src/requests.ts';
import { type AcrValue, acrValues, type OauthClient } from '../registry/oauth-client.ts';
import type { SignedView } from '../transactions/outcomes.ts';
import type { Tenant } from './tenant.ts';

/**
 * The requested acr decides which device is asked; the device that signed decides the granted acr.
 * SIM and App have the highest level, a one-time password by text message has level 2.
 */
export type LoginMethod = 'sim' | 'app' | 'otp';

const satisfied: Readonly<Record<LoginMethod, readonly AcrValue[]>> = {
  sim: ['mid_al3_any', 'mid_al3_simcard', 'mid_al2_any', 'mid_al4_any'],
  app: ['mid_al3_any', 'mid_al3_mobileapp', 'mid_al2_any', 'mid_al4_any'],
  otp: ['mid_al2_any'],
};

/** The signature profile for the requested values: one device only when nothing else would do. */
export const profileFor = (requested: readonly AcrValue[]): ProfileName => {
  const only = (value: AcrValue): boolean =>
    requested.length > 0 && requested.every((each) => each === value);
  if (only('mid_al3_simcard')) return 'STK-LoA4';
  if (only('mid_al3_mobileapp')) return 'Device-LoA4';
  return 'Any-LoA4';
};

/** @returns The first requested value that the method satisfies. */
export const findAcr = (
  requested: readonly AcrValue[],
  method: LoginMethod,
): AcrValue | undefined => {
  const values = satisfied[method];
  return requested.length === 0 ? values[0] : requested.find((value) => values.includes(value));
};

/**
 * What an earlier login satisfies of a client's request. A one-time password counts only where the
 * client takes them and asks for that level; otherwise a signature is needed.
 *
 * @param amr The `amr` of the earlier login.
 * @returns The value to report; undefined when the phone has to be asked.
 */
export const findEarlierAcr = (
  requested: readonly AcrValue[],
  amr: readonly string[] | undefined,
  { textMessageLogin }: Pick<OauthClient, 'textMessageLogin'>,
): AcrValue | undefined => {
  const method = findMethodIn(amr);
  if (method === undefined || (method === 'otp' && (!textMessageLogin || requested.length === 0))) {
    return undefined;
  }
  return findAcr(requested, method);
};

/** The method of a login, by its amr. */
export const findMethodIn = (amr: readonly string[] = []): LoginMethod | undefined =>
  (['sim', 'app', 'otp'] as const).find((method) => amr.includes(`mid_${method}`));

/** Device ids are `sim`, `app-0`, `app-1` …; a delivered text has no signature. */
export const findMethod = ({ signature, sscdId }: SignedView): LoginMethod => {
  if (signature === undefined) return 'otp';
  return sscdId === 'sim' ? 'sim' : 'app';
};

/** The way in which a phone joined a login (interaction/device-start.ts). */
export type PhoneStart = 'qr' | 'device';

export interface JoinedPhone {
  readonly start: PhoneStart;
  /** SHA-256 of its certificate, base64url. */
  readonly certificateHash: string;
}

const amrOfStart = { qr: 'mid_qr', device: 'mid_same_device' } as const;

export const isBegunByPhone = (amr: readonly string[]): boolean =>
  Object.values(amrOfStart).some((value) => amr.includes(value));

export const listAmr = (
  method: LoginMethod,
  located: boolean,
  start: PhoneStart | undefined,
): readonly AmrValue[] => [
  `mid_${method}` as const,
  ...(located ? (['mid_geo'] as const) : []),
  ...(start === undefined ? [] : [amrOfStart[start]]),
];

/** The known values of a space-separated list, in its order. */
export const parseAcrValues = (text: unknown): readonly AcrValue[] =>
  typeof text === 'string'
    ? text
        .split(' ')
        .filter((value): value is AcrValue => (acrValues as readonly string[]).includes(value))
    : [];

/** RFC 8176 has no values for mobile signatures; these are the field's own. */
export const amrValues = [
  'mid_sim',
  'mid_app',
  'mid_otp',
  'mid_geo',
  'mid_qr',
  'mid_same_device',
] as const;
export type AmrValue = (typeof amrValues)[number];

export interface LoginEvidence {
  /** Digits without plus; also the account id. */
  readonly msisdn: string;
  /** Seconds since the epoch. */
  readonly at: number;
  readonly acr: AcrValue;
  readonly amr: readonly AmrValue[];
  /** The serialNumber in the subject of the certificate; undefined for a one-time password. */
  readonly serialNumber: string | undefined;
  /** CMS SignedData with certificates, Base64. */
  readonly cms: string | undefined;
  readonly location: LocationReport | LocationError | undefined;
}

/** Stored with the grant's id, so that every process that carries it out does the same. */
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

/** Can be repeated. @param seconds The time to keep the evidence: the longest life of a token. */
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
  // Of the login, however late it is carried out: `end-tokens` counts from it.
  Object.assign(grant, { jti: grantId, iat: evidence.at });
  grant.addOIDCScope(scope);
  await Promise.all([tenant.store.put('evidence', grantId, evidence, seconds), grant.save()]);
};
