import { z } from 'zod';
import { type Checked, fault, ok, refuse } from '../../packages/protocol/src/fault.ts';
import {
  type DataToBeSigned,
  profileNames,
  type ServiceName,
  type SignatureRequest,
} from '../../packages/protocol/src/requests.ts';
import { type DeepReadonly, refuseRepeats } from './entry.ts';
import { isLogin, loginApId } from './login-ap-id.ts';
import type { OauthTenant } from './oauth-client.ts';
import type { PasswordVerifier } from './password-verifier.ts';
import { decoyPassword, storedPassword } from './passwords.ts';
import type { RateLimiter } from './rate-limiter.ts';

/**
 * The callers of the service: application providers, identified by AP_ID, and by a password or
 * client certificate if they are registered with one.
 *
 * Every wrong identity gets the same fault 104, and it costs about the same time: an unknown AP_ID
 * is refused only after a scrypt against a decoy. Otherwise the time would tell which names exist.
 * All unknown names share one lane of the verifier's semaphore, which bounds that work.
 *
 * The rate is counted after the identity is proven, so no caller can use up the allowance of
 * another.
 *
 * A prefix (`dtbsPrefix`) protects users: no other application can write "Bank Ltd: …" on a phone.
 * It must be in the signed text, for a transaction approval in the value of the first pair, and in
 * the message of a receipt.
 *
 * Source: interface sections 2.1, 2.2 and 5.1.
 */
const serviceNames = [
  'userLang',
  'geofencing',
  'app2app',
  'subscriberInfo',
  'validate',
] as const satisfies readonly ServiceName[];

const fingerprint = z
  .string()
  .regex(/^(?:[0-9a-f]{64}|(?:[0-9a-f]{2}:){31}[0-9a-f]{2})$/i, {
    error: 'must be a SHA-256 fingerprint: 64 hex digits, with or without colons',
  })
  .transform((written) => written.replaceAll(':', '').toLowerCase());

/** A list that is left out restricts nothing; an empty list allows nothing. */
const entry = z.strictObject({
  id: z.string().min(1).max(256).describe('AP_ID that its requests carry.'),
  name: z
    .string()
    .min(1)
    .max(80)
    .optional()
    .describe(
      'How people know it, on the pages and in the mails that ask them to sign. Without it: AP_ID.',
    ),
  passwordHash: storedPassword
    .optional()
    .describe('Stored form of its AP_PWD. Without it AP_PWD is ignored.'),
  dtbsPrefix: z
    .string()
    .min(1)
    .optional()
    .describe(
      'What every text to sign (in an approval: the value of the first pair) and every receipt must begin with.',
    ),
  profiles: z
    .array(z.enum(profileNames))
    .optional()
    .describe('Signature profiles it may ask for. Without it: all.'),
  services: z
    .array(z.enum(serviceNames))
    .optional()
    .describe('Additional services it has subscribed to. Without it: all.'),
  rateLimit: z
    .strictObject({
      requests: z.int().min(1).max(1_000_000).describe('How many requests it may make at once.'),
      perSeconds: z
        .int()
        .min(1)
        .max(86_400)
        .describe('Seconds in which that allowance refills, evenly.'),
    })
    .optional()
    .describe('Without it the rate is not limited.'),
  clientCertificateFingerprints: z
    .array(fingerprint)
    .min(1)
    .optional()
    .describe(
      'SHA-256 of the TLS client certificates it may use (hex). Without it none is asked for.',
    ),
});

/** @param more The members that parts add to an entry. */
export const applicationProviderList = (more: z.ZodRawShape) =>
  z
    .array(entry.extend(more) as typeof entry)
    .superRefine(
      refuseRepeats(['id'], (key, first) => `is the same as applicationProviders[${first}].${key}`),
    );

export type RegisteredProvider = DeepReadonly<z.output<typeof entry>>;
/** The rights of a provider whose identity is proven. */
export type ApplicationProvider = Pick<
  RegisteredProvider,
  'id' | 'dtbsPrefix' | 'profiles' | 'services'
>;

const pairs = z.tuple([z.object({ value: z.string() })], z.unknown());

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The beginning of the text that the user reads and signs. */
const openingText = (data: DataToBeSigned): string | undefined =>
  data.kind === 'text' ? data.text : pairs.safeParse(parseJson(data.dtbd)).data?.[0].value;

const checkPrefix = (
  { dtbsPrefix }: Pick<ApplicationProvider, 'dtbsPrefix'>,
  shown: string | undefined,
): Checked<void> =>
  dtbsPrefix === undefined || shown?.startsWith(dtbsPrefix) === true ? ok(undefined) : refuse(107);

/**
 * @returns Fault 109 for a profile, or 104 for a service, that the provider has not subscribed to;
 * 107 `DTBD matching failed` for data without its prefix; in this order.
 */
export const checkSignatureRequest = (
  provider: ApplicationProvider,
  request: Pick<SignatureRequest, 'profile' | 'services' | 'data'>,
): Checked<void> => {
  if (provider.profiles?.includes(request.profile.name) === false) {
    return refuse(109, 'The AP may not use this signature profile');
  }
  const unsubscribed = serviceNames.some(
    (name) => request.services[name] !== undefined && provider.services?.includes(name) === false,
  );
  if (unsubscribed) return refuse(104);
  return checkPrefix(provider, openingText(request.data));
};

/** The application providers of logins, for workers. */
export const internalProviders = (tenants: readonly OauthTenant[]): readonly RegisteredProvider[] =>
  tenants.map(({ id }) => ({ id: loginApId(id) }));

/** The facts about a caller that the connection gives. */
export interface Evidence {
  /** SHA-256 of the client certificate of the connection: lower-case hex without colons. */
  readonly clientCertificateFingerprint: string | undefined;
  /** The address of the caller; called only when the password has to be computed. */
  readonly origin?: () => string;
}

export interface Credentials {
  readonly apId: string;
  readonly apPassword: string | undefined;
  /** Called only for applications that are registered with a password or certificate. */
  readonly evidence: () => Evidence;
}

/** The place of a request in the admission. */
export interface WorkingPlace {
  /** Gives the place up; may be called again. */
  stepAside(): void;
  /** Takes the place again. @returns The fault when there is no room any more. */
  comeBack(): Promise<Checked<void>>;
}

export type ApplicationProviders = ReturnType<typeof createApplicationProviders>;

/** The fault of a caller that has used up its rate. A later call may pass. */
export const rateExceeded = fault(104, 'Request rate exceeded');
const tooOften = { ok: false, fault: rateExceeded } as const;

/** @param sandbox Any AP_ID is accepted; registered ones still need their credentials. */
export const createApplicationProviders = ({
  providers,
  sandbox,
  rateLimiter,
  passwords,
}: {
  readonly providers: readonly RegisteredProvider[];
  readonly sandbox: boolean;
  readonly rateLimiter: Pick<RateLimiter, 'take'>;
  readonly passwords: PasswordVerifier;
}) => {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  const anyHash = providers.find(({ passwordHash }) => passwordHash !== undefined)?.passwordHash;
  const decoy = decoyPassword(anyHash);

  /** The provider of an unregistered name: in a sandbox it may use everything. */
  const unregistered = (id: string): Checked<ApplicationProvider> =>
    sandbox ? ok({ id }) : refuse(104);

  const prove = async (
    provider: RegisteredProvider | undefined,
    { apPassword, evidence }: Credentials,
    place: WorkingPlace | undefined,
  ): Promise<Checked<ApplicationProvider>> => {
    const { clientCertificateFingerprint, origin } = evidence();
    const known = provider !== undefined && certificateFits(provider, clientCertificateFingerprint);
    const hash = provider?.passwordHash ?? (known ? undefined : decoy);
    const asked =
      hash === undefined
        ? 'right'
        : passwords.verify(hash, apPassword ?? '', undefined, origin?.());
    if (asked instanceof Promise) place?.stepAside();
    const verdict = await asked;
    const refused = (why: Checked<never>): Checked<never> => {
      place?.stepAside();
      return why;
    };
    if (verdict === 'busy') return refused(tooOften);
    if (!known || verdict === 'wrong') return refused(refuse(104));
    const back = asked instanceof Promise ? await place?.comeBack() : undefined;
    if (back?.ok === false) return back;
    const { rateLimit } = provider;
    if (rateLimit !== undefined && !(await rateLimiter.take(provider.id, rateLimit)))
      return refused(tooOften);
    return ok(provider);
  };

  return {
    /**
     * Authenticates the caller and counts the call.
     *
     * @param place Given up while a password is computed, and when the caller is refused.
     * @returns Fault 104 for a wrong identity; fault 104 `Request rate exceeded` for too many
     * requests or passwords. The answer is a plain value, not a promise, when there is nothing to
     * prove and nothing to count.
     * @throws When the rate limiter's store is unreachable.
     */
    authorize: (
      credentials: Credentials,
      place?: WorkingPlace,
    ): Checked<ApplicationProvider> | Promise<Checked<ApplicationProvider>> => {
      // Logins come from inside, so over HTTP their AP_IDs count as unregistered.
      if (isLogin(credentials.apId)) return prove(undefined, credentials, place);
      const provider = byId.get(credentials.apId);
      if (provider === undefined && sandbox) return unregistered(credentials.apId);
      return prove(provider, credentials, place);
    },

    /** Whether an AP_ID is registered; a sandbox accepts others too. */
    isRegistered: (apId: string): boolean => byId.has(apId),

    /** @returns Fault 107 for the message of a receipt without the prefix of its application. */
    checkReceipt: (apId: string, message: string): Checked<void> =>
      checkPrefix(byId.get(apId) ?? {}, message),

    /**
     * Checks a request from the queue, which has neither password nor connection. A program that
     * can add jobs is trusted to name its provider. The call is not counted again.
     *
     * @returns Fault 104 for an unknown provider, or what {@link checkSignatureRequest} returns.
     */
    checkStored: (request: SignatureRequest): Checked<void> => {
      const { apId } = request.caller;
      const provider = byId.get(apId);
      const known = provider === undefined ? unregistered(apId) : ok(provider);
      return known.ok ? checkSignatureRequest(known.value, request) : known;
    },
  };
};

/** Fingerprints are public, so an ordinary comparison is enough. */
const certificateFits = (
  { clientCertificateFingerprints }: RegisteredProvider,
  shown: string | undefined,
): boolean =>
  clientCertificateFingerprints === undefined ||
  (shown !== undefined && clientCertificateFingerprints.includes(shown));
