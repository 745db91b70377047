/**
 * The claims of each scope, and the `sub`. Only the scope `phone` tells the MSISDN. The serial
 * number of the certificate identifies a person everywhere, so it has a scope of its own
 * (`mid_profile`), as has the signature (`mid_cms`). `sub` is pairwise (OpenID Connect Core 8.1),
 * so that two services cannot find out that they have the same customer.
 */
import { createHmac } from 'node:crypto';
import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import { deriveKey } from '../../packages/pki/src/sealed-json.ts';
import type { OauthClient } from '../registry/oauth-client.ts';
import type { Subscriber } from '../registry/subscriber.ts';
import type { LoginEvidence } from './evidence.ts';

export const claimsOfScopes = {
  // The last three are about the login and are in the ID token only.
  openid: ['sub', 'acr', 'amr', 'auth_time'],
  profile: ['locale', 'updated_at'],
  phone: ['phone_number', 'phone_number_verified'],
  mid_location: [
    'mid_geo_country',
    'mid_geo_accuracy',
    'mid_geo_device_confidence',
    'mid_geo_location_confidence',
    'mid_geo_timestamp',
    'mid_geo_error_code',
    'mid_geo_error_message',
  ],
  mid_profile: [
    'mid_serial_number',
    'mid_methods',
    'mid_recovery_code_created',
    'mid_auto_activation',
  ],
  mid_cms: ['mid_cms'],
} as const;

export type Claims = { readonly sub: string } & Readonly<Record<string, unknown>>;

const locationClaims = (location: LoginEvidence['location']): Record<string, unknown> => {
  if (location === undefined) return {};
  return 'errorCode' in location
    ? { mid_geo_error_code: location.errorCode, mid_geo_error_message: location.errorMessage }
    : {
        mid_geo_country: location.country,
        mid_geo_accuracy: location.accuracy,
        mid_geo_device_confidence: location.deviceConfidence,
        mid_geo_location_confidence: location.locationConfidence,
        mid_geo_timestamp: location.timestamp,
      };
};

const subscriberClaims = (subscriber: Subscriber | undefined): Record<string, unknown> =>
  subscriber === undefined
    ? {}
    : {
        ...(subscriber.language !== undefined && { locale: subscriber.language }),
        mid_methods: [
          ...(subscriber.sim === undefined ? [] : ['mid_sim']),
          ...(subscriber.apps.length === 0 ? [] : ['mid_app']),
        ],
        mid_recovery_code_created: subscriber.recoveryCodeCreated,
        mid_auto_activation: subscriber.autoActivation,
      };

/** All claims about a person; the library selects those of the granted scopes. */
export const claimsAbout = (
  account: string,
  subscriber: Subscriber | undefined,
  evidence: LoginEvidence | undefined,
): Claims => ({
  sub: account,
  phone_number: `+${account}`,
  phone_number_verified: true,
  ...subscriberClaims(subscriber),
  ...(evidence?.serialNumber !== undefined && {
    mid_serial_number: evidence.serialNumber,
  }),
  ...(evidence !== undefined && { updated_at: evidence.at }),
  ...(evidence?.cms !== undefined && { mid_cms: evidence.cms }),
  ...locationClaims(evidence?.location),
});

/** The owner of a number: 1 is the first one. */
export type OwnerOf = KeyCustody['ownerOf'];

/**
 * @param ownerOf A number that gets a new owner becomes another account.
 * @returns `sub` of an account at a client: 43 characters, equal for all clients of a sector.
 */
export const createPairwise = (
  serviceKey: Uint8Array,
  tenant: string,
  ownerOf: OwnerOf,
): ((account: string, client: Pick<OauthClient, 'sector'>) => string) => {
  const key = deriveKey(serviceKey, `paraph oidc subjects ${tenant}`);
  return (account, { sector }) => {
    const { version } = ownerOf(account);
    const person = version === 1 ? account : `${account}:${version}`;
    return createHmac('sha256', key)
      .update(`${sector.length}:${sector}`)
      .update(person)
      .digest('base64url');
  };
};
