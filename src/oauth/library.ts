import {
  compactVerify,
  decodeJwt,
  decodeProtectedHeader,
  importJWK,
  type JWK,
  type JWTPayload,
} from 'jose';
import type { KoaContextWithOIDC, Provider as OidcProvider } from 'oidc-provider';
import { isRegistered } from '../registry/web-address.ts';
import { findAcr, findMethodIn, parseAcrValues } from './evidence.ts';
import { isProvenBy } from './mount.ts';
import { bindToSessions } from './session-grants.ts';

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

export const { ExternalSigningKey, Provider, errors, interactionPolicy } = await load();

/** A parameter as the library hands it out; undefined unless it is a text. */
export const readText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/**
 * Clients prove themselves before the library sees their request (`program-endpoints.ts`), so it
 * asks whether the request is proven instead of comparing secrets, for every method alike.
 */
const trustProven = ({ Client }: OidcProvider): void => {
  Object.defineProperty(Client.prototype, 'clientAuthMethod', {
    get(this: { readonly tokenEndpointAuthMethod: string }): string {
      return this.tokenEndpointAuthMethod === 'none' ? 'none' : 'client_secret_basic';
    },
  });
  Object.assign(Client.prototype, {
    redirectUriAllowed(this: { readonly redirectUris: readonly string[] }, uri: string): boolean {
      return isRegistered(uri, this.redirectUris);
    },
    async compareClientSecret(this: { readonly clientId: string }): Promise<boolean> {
      return isProvenBy(Provider.ctx?.req, this.clientId);
    },
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
const checkLinksFirst = (
  { Client }: OidcProvider,
  check: (ctx: KoaContextWithOIDC) => void,
): void => {
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

/**
 * The library reports the acr that the login had for the client that asked first. The one to report
 * is what this request asks and the login satisfies.
 */
const reportAskedAcr = ({ OIDCContext }: OidcProvider): void => {
  Object.defineProperty(OIDCContext.prototype, 'acr', {
    get(this: KoaContextWithOIDC['oidc']): string | undefined {
      const method = findMethodIn(this.session?.amr);
      const asked = parseAcrValues(this.params?.acr_values);
      return (method === undefined ? undefined : findAcr(asked, method)) ?? this.session?.acr;
    },
  });
};

interface HintClient {
  readonly clientId: string;
  readonly idTokenSignedResponseAlg: string;
}

interface ValidHint {
  readonly header: object;
  readonly payload: JWTPayload;
}

/**
 * An old ID token may name a key that has left the key set (`signing-keys.ts`). It may also have
 * expired: it says who was logged in, and proves nothing.
 */
const takeOldHints = ({ IdToken, issuer }: OidcProvider, keys: readonly JWK[]): void => {
  const model = IdToken as unknown as {
    validate(jwt: string, client: HintClient): Promise<ValidHint>;
  };
  const { validate } = model;
  model.validate = async (jwt, client) => {
    // A key in a token has a `kid` for each algorithm.
    const [kid = ''] = (decodeProtectedHeader(jwt).kid ?? '').split('.');
    const key = keys.find((known) => known.kid === kid);
    if (key === undefined) return validate.call(model, jwt, client);
    const alg = client.idTokenSignedResponseAlg;
    const verified = await compactVerify(jwt, await importJWK(key, alg), { algorithms: [alg] });
    const payload = decodeJwt(jwt);
    const isTheirs = [payload.aud].flat().includes(client.clientId) && payload.iss === issuer;
    if (!isTheirs || typeof payload.sub !== 'string') {
      throw new errors.InvalidRequest('id_token_hint is not an ID token for this client');
    }
    return { header: verified.protectedHeader, payload };
  };
};

export const patchLibrary = (
  provider: OidcProvider,
  {
    checkLink,
    hintKeys,
  }: {
    readonly checkLink: (ctx: KoaContextWithOIDC) => void;
    readonly hintKeys: readonly JWK[];
  },
): void => {
  trustProven(provider);
  bindToAccessToken(provider);
  bindToSessions(provider);
  reportAskedAcr(provider);
  takeOldHints(provider, hintKeys);
  checkLinksFirst(provider, checkLink);
};
