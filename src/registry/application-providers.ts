import { type Checked, fault, ok, refuse } from '../protocol/fault.ts';
import type { SignatureRequest } from '../protocol/requests.ts';
import {
  type ApplicationProvider,
  checkSignatureRequest,
  type RegisteredProvider,
} from './application-provider.ts';
import type { PasswordVerifier } from './password-verifier.ts';
import { decoyPassword } from './passwords.ts';
import type { RateLimiter } from './rate-limiter.ts';

/**
 * Who may call: application providers, known by AP_ID, and by a password or client certificate where they were
 * registered with one.
 *
 * Every refusal of an identity is one and the same fault 104, and costs about the same time: an AP_ID that is unknown
 * is refused only after a scrypt against a decoy. Otherwise the time would tell which names are registered and thereby
 * which ones are worth guessing at. The price, work done for anybody, is bounded: all unknown names share one lane of
 * the verifier's turnstile. Whoever waits for that work holds no place that others need.
 *
 * The rate is counted after the identity is proven, so that nobody can use up another's allowance by calling in its name.
 *
 * Source: interface sections 2.1 and 5.1.
 */
export { type ApplicationProvider, checkSignatureRequest, type RegisteredProvider };

export interface Credentials {
  readonly apId: string;
  readonly apPassword: string | undefined;
  /** SHA-256 of the certificate that the connection proved, in lower-case hex without colons. */
  readonly clientCertificateFingerprint: string | undefined;
  /** Where the call comes from, asked when its password has to be computed. */
  readonly origin?: () => string;
}

/** The place of a request among those that are worked on. */
export interface WorkingPlace {
  /** Gives it up; once is enough. */
  stepAside(): void;
  /** Takes one again. @returns The refusal when there is no room. */
  comeBack(): Promise<Checked<void>>;
}

export interface ApplicationProviders {
  /**
   * Proves who calls and counts the call.
   *
   * @param place Given up while a password is computed, and when the caller is refused.
   * @returns At once when there is nothing to prove and nothing to count. Fault 104 with the table's detail for whatever is wrong with the identity; fault 104 `Request rate
   *   exceeded` for too many requests or too many passwords tried at once.
   * @throws When the rate limiter's store is unreachable.
   */
  authorize(
    credentials: Credentials,
    place?: WorkingPlace,
  ): Checked<ApplicationProvider> | Promise<Checked<ApplicationProvider>>;

  /** Whether an AP_ID is registered: in a sandbox, others can call too. */
  isRegistered(apId: string): boolean;

  /**
   * What can still be checked of a request that is already in the queue, where it has neither password nor connection:
   * the provider must be known and may ask for this. Whoever can add jobs is trusted to be who it says; the call is not
   * counted again.
   *
   * @returns Fault 104 for an unknown provider, or what {@link checkSignatureRequest} returns.
   */
  checkStored(request: SignatureRequest): Checked<void>;
}

/** The refusal that passes. */
export const rateExceeded = fault(104, 'Request rate exceeded');
const tooOften = { ok: false, fault: rateExceeded } as const;

/** @param sandbox Any AP_ID is accepted; those that are registered still need what they were registered with. */
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
}): ApplicationProviders => {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  const anyHash = providers.find(({ passwordHash }) => passwordHash !== undefined)?.passwordHash;
  const decoy = decoyPassword(anyHash);

  /** A name nobody registered: in a sandbox somebody who may ask for everything. */
  const unregistered = (id: string): Checked<ApplicationProvider> =>
    sandbox ? ok({ id, dtbsPrefix: undefined, profiles: undefined, services: undefined }) : refuse(104);

  const prove = async (
    provider: RegisteredProvider | undefined,
    { apPassword, clientCertificateFingerprint, origin }: Credentials,
    place: WorkingPlace | undefined,
  ): Promise<Checked<ApplicationProvider>> => {
    const known = provider !== undefined && certificateFits(provider, clientCertificateFingerprint);
    const hash = provider?.passwordHash ?? (known ? undefined : decoy);
    const asked =
      hash === undefined ? 'right' : passwords.verify(hash, apPassword ?? '', undefined, origin?.());
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
    authorize: (credentials, place) => {
      const provider = byId.get(credentials.apId);
      if (provider === undefined && sandbox) return unregistered(credentials.apId);
      return prove(provider, credentials, place);
    },

    isRegistered: (apId) => byId.has(apId),

    checkStored: (request) => {
      const { apId } = request.caller;
      const provider = byId.get(apId);
      const known = provider === undefined ? unregistered(apId) : ok(provider);
      return known.ok ? checkSignatureRequest(known.value, request) : known;
    },
  };
};

/** Fingerprints are public, so an ordinary comparison does. */
const certificateFits = (
  { clientCertificateFingerprints }: RegisteredProvider,
  shown: string | undefined,
): boolean =>
  clientCertificateFingerprints === undefined ||
  (shown !== undefined && clientCertificateFingerprints.includes(shown));
