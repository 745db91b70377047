import type { KoaContextWithOIDC, Provider as OidcProvider } from 'oidc-provider';
import type { PasswordVerdict } from '../registry/password-verifier.ts';
import type { SealedStore } from './sealed-store.ts';

/**
 * The certified provider library, loaded without what it prints.
 *
 * On Node 20, which is this project's floor, it warns about an unsupported runtime as soon as it is loaded. Everything that is
 * used of it works there and is tested there, and the warning would be the first thing that a newcomer reads.
 */
const load = async (): Promise<typeof import('oidc-provider')> => {
  // Put back before anybody else can miss it.
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return await import('oidc-provider');
  } finally {
    console.warn = warn;
  }
};

export const { Provider, errors, interactionPolicy } = await load();

/** A parameter of a request as the library hands it out: whatever is no text counts as absent. */
export const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** What the library does otherwise than we need it, and has no setting for. */

/** Compares a secret with the stored form of this client's. */
export type CompareSecret = (clientId: string, secret: string, stored: string) => Promise<PasswordVerdict>;

/** The library would compare with what is stored, which is a hash. */
const compareHashes = ({ Client }: OidcProvider, compareSecret: CompareSecret): void => {
  Object.assign(Client.prototype, {
    async compareClientSecret(
      this: { readonly clientId: string; readonly clientSecret: string },
      actual: string,
    ): Promise<boolean> {
      const verdict = await compareSecret(this.clientId, actual, this.clientSecret);
      if (verdict === 'busy') throw new errors.TemporarilyUnavailable('too many attempts');
      return verdict === 'right';
    },
  });
};

/**
 * The library looks for a jti and then writes it down, so all of several requests at the same time would be the first.
 */
const detectReplaysAtOnce = (
  { ReplayDetection }: OidcProvider,
  store: Pick<SealedStore, 'putOnce'>,
  now: () => number,
): void => {
  Object.assign(ReplayDetection, {
    unique: (iss: string, jti: string, exp: number): Promise<boolean> =>
      store.putOnce('ReplayDetection', `${iss} ${jti}`, 1, exp - now() / 1000),
  });
};

/**
 * The library binds ID tokens of the authorisation endpoint only to their access token (OpenID Connect Core 3.1.3.6).
 */
const bindToAccessToken = ({ IdToken }: OidcProvider): void => {
  const { issue } = IdToken.prototype;
  Object.assign(IdToken.prototype, {
    issue(
      this: InstanceType<OidcProvider['IdToken']>,
      context: Parameters<typeof issue>[0],
    ): Promise<string> {
      // An opaque token is its own identifier; the library hashes what stands here.
      const accessToken = this.ctx?.oidc.entities.AccessToken?.jti;
      if (context.use === 'idtoken' && accessToken !== undefined) this.set('at_hash', accessToken);
      return issue.call(this, context);
    },
  });
};

/**
 * The library has a place for checks of ours only behind its own, which are others and word their errors differently. Whether
 * a client may be answered in a certain way is what it asks first about a request that is complete: signed and pushed ones have
 * been opened by then.
 */
const checkLinksFirst = ({ Client }: OidcProvider, check: (ctx: KoaContextWithOIDC) => void): void => {
  const { responseModeAllowed } = Client.prototype;
  Object.assign(Client.prototype, {
    responseModeAllowed(
      this: InstanceType<OidcProvider['Client']>,
      ...given: Parameters<typeof responseModeAllowed>
    ): boolean {
      const { ctx } = Provider;
      if (ctx !== undefined) check(ctx);
      return responseModeAllowed.apply(this, given);
    },
  });
};

export const patchLibrary = (
  provider: OidcProvider,
  {
    compareSecret,
    store,
    checkLink,
    now,
  }: {
    readonly compareSecret: CompareSecret;
    readonly store: Pick<SealedStore, 'putOnce'>;
    readonly checkLink: (ctx: KoaContextWithOIDC) => void;
    readonly now: () => number;
  },
): void => {
  compareHashes(provider, compareSecret);
  detectReplaysAtOnce(provider, store, now);
  bindToAccessToken(provider);
  checkLinksFirst(provider, checkLink);
};
