import type { KoaContextWithOIDC, Provider as OidcProvider } from 'oidc-provider';
import type { PasswordVerdict } from '../registry/password-verifier.ts';
import type { SealedStore } from './sealed-store.ts';

/**
 * The provider library, loaded without its warning. On Node 20, our oldest supported version, it
 * warns about an unsupported runtime; what we use of it works there and is tested there.
 */
const load = async (): Promise<typeof import('oidc-provider')> => {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return await import('oidc-provider');
  } finally {
    console.warn = warn;
  }
};

export const { Provider, errors, interactionPolicy } = await load();

/** A parameter as the library hands it out; undefined unless it is a text. */
export const readText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** Compares a secret with the stored form of this client. */
export type CompareSecret = (clientId: string, secret: string, stored: string) => Promise<PasswordVerdict>;

/** The library would compare with the stored form, which is a hash. */
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

/** The library reads a jti and then stores it, so parallel requests would all be the first. */
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
 * The library does not bind ID tokens of the authorisation endpoint to a code (OpenID Connect Core
 * 3.1.3.6).
 */
const bindToAccessToken = ({ IdToken }: OidcProvider): void => {
  const { issue } = IdToken.prototype;
  Object.assign(IdToken.prototype, {
    issue(
      this: InstanceType<OidcProvider['IdToken']>,
      context: Parameters<typeof issue>[0],
    ): Promise<string> {
      // An opaque token is its own identifier; the library hashes this value.
      const accessToken = this.ctx?.oidc.entities.AccessToken?.jti;
      if (context.use === 'idtoken' && accessToken !== undefined) this.set('at_hash', accessToken);
      return issue.call(this, context);
    },
  });
};

/**
 * The library runs our checks after its own, which word errors differently. `responseModeAllowed`
 * is its first question about a complete request, after signed and pushed ones are opened.
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
