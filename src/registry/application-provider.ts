import { z } from 'zod';
import { type Checked, ok, refuse } from '../protocol/fault.ts';
import type { DataToBeSigned, ProfileName, ServiceName, SignatureRequest } from '../protocol/requests.ts';
import type { RateLimit } from './rate-limiter.ts';

/**
 * An application provider: how it is registered, and what it may ask for once it has proven its identity.
 *
 * The prefix protects the user: a person who sees "Bank Ltd: …" on the phone may trust that no other application can
 * write it there. It is therefore looked for in what is signed. Of a transaction approval that is the array of pairs,
 * not the title, so the value of the first pair must begin with it.
 *
 * Source: interface sections 2.1 and 2.2.
 */
export interface ApplicationProvider {
  readonly id: string;
  /** What every text to sign must begin with. */
  readonly dtbsPrefix: string | undefined;
  /** Undefined allows all. */
  readonly profiles: readonly ProfileName[] | undefined;
  /** Undefined allows all. */
  readonly services: readonly ServiceName[] | undefined;
}

/** Where the ends of its transactions are told to it. */
export interface CallbackAddress {
  readonly url: string;
  /** Raised to change the secret; that of the version before is used beside it. */
  readonly secretVersion: number;
}

export interface RegisteredProvider extends ApplicationProvider {
  /** Undefined: AP_PWD is ignored. */
  readonly passwordHash: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  /** SHA-256 in lower-case hex, 64 digits. Undefined: any certificate, or none, will do. */
  readonly clientCertificateFingerprints: readonly string[] | undefined;
  /** Undefined: nothing is told, the provider asks for the status. */
  readonly callback?: CallbackAddress | undefined;
}

/** Where callbacks go, as people may see it: the rest of the address may hold a secret. */
export const callbackHostOf = ({ callback }: Pick<RegisteredProvider, 'callback'>): string | undefined =>
  callback && new URL(callback.url).host;

const pairs = z.tuple([z.object({ value: z.string() })], z.unknown());

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The first thing that the user reads and signs; undefined when there is no such thing. */
const openingText = (data: DataToBeSigned): string | undefined =>
  data.kind === 'text' ? data.text : pairs.safeParse(parseJson(data.dtbd)).data?.[0].value;

export const serviceNames = [
  'userLang',
  'geofencing',
  'app2app',
  'subscriberInfo',
  'validate',
] as const satisfies readonly ServiceName[];

/**
 * @returns Fault 109 for a profile, 104 for a service that the provider has not subscribed to, 107 `DTBD matching failed`
 *   for data without its prefix, in this order: what is forbidden comes before what is badly put.
 */
export const checkSignatureRequest = (
  provider: ApplicationProvider,
  request: Pick<SignatureRequest, 'profile' | 'services' | 'data'>,
): Checked<void> => {
  if (provider.profiles?.includes(request.profile.name) === false) return refuse(109);
  const unsubscribed = serviceNames.some(
    (name) => request.services[name] !== undefined && provider.services?.includes(name) === false,
  );
  if (unsubscribed) return refuse(104);
  const { dtbsPrefix } = provider;
  if (dtbsPrefix !== undefined && openingText(request.data)?.startsWith(dtbsPrefix) !== true) {
    return refuse(107, 'DTBD matching failed');
  }
  return ok(undefined);
};
