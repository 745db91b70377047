/**
 * The URIs of signature profiles and additional services. All accepted spellings are listed once
 * and looked up as text, without decoding or case folding: they are names (RFC 3986 section 6.2.1).
 *
 * Source: interface sections 2.1 and 2.2.
 */
import { type ProfileUri, profileNames, type ServiceName } from './requests.ts';

/** The spelling of the URIs of a service: host parts, which are names and not addresses. */
export interface Dialect {
  /** The host part of profiles and most services: `mid.vendor.ch`. */
  readonly authority: string;
  /** The host part of the language service, if it differs: `mss.vendor.fi`. */
  readonly languageAuthority?: string | undefined;
}

/** The URI of ETSI's own service (TS 102 204), whose authority is not a dialect. */
const validateUri = 'http://uri.etsi.org/TS102204/v1.1.2#validate';

const servicePaths = {
  userLang: 'TS102204/v1.0.0#userLang',
  geofencing: 'as#geofencing',
  app2app: 'as#app2app',
  subscriberInfo: 'as#subscriberInfo',
} as const satisfies Partial<Record<ServiceName, string>>;

const serviceNames = Object.keys(servicePaths) as (keyof typeof servicePaths)[];

/** The URI of a profile, in its own dialect. */
export const profileUriText = ({ authority, name }: ProfileUri): string =>
  `http://${authority}/${name}`;

/** The URI of a service, in one dialect. */
export const serviceUriText = (
  name: ServiceName,
  { authority, languageAuthority = authority }: Dialect,
): string => {
  if (name === 'validate') return validateUri;
  return `http://${name === 'userLang' ? languageAuthority : authority}/${servicePaths[name]}`;
};

/** Every accepted profile URI with its meaning, authority by authority. */
export const profilesByUri = (authorities: readonly string[]): ReadonlyMap<string, ProfileUri> =>
  new Map(
    authorities.flatMap((authority) =>
      profileNames.map(
        (name) => [profileUriText({ authority, name }), { authority, name }] as const,
      ),
    ),
  );

/** Every accepted service URI with its meaning, authority by authority. */
export const servicesByUri = (authorities: readonly string[]): ReadonlyMap<string, ServiceName> =>
  new Map<string, ServiceName>([
    ...authorities.flatMap((authority) =>
      serviceNames.map((name) => [serviceUriText(name, { authority }), name] as const),
    ),
    [validateUri, 'validate'],
  ]);
