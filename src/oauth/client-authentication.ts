/**
 * Authenticates a tenant's clients, each by the one method that it is registered with. All
 * endpoints ask here, those of the library too.
 *
 * Every wrong identity gets the same refusal, after the same work: an unknown client's secret is
 * compared with a decoy, and its assertion is verified under one. Otherwise the time would tell
 * which clients exist.
 *
 * Sources: RFC 6749 2.3.1, RFC 7523 3, OpenID Connect Core 9 (private_key_jwt), RFC 9126 2.
 */
import { hash, randomBytes } from 'node:crypto';
import { decodeJwt, type JWTPayload } from 'jose';
import type { OauthClient } from '../registry/oauth-client.ts';
import type { PasswordVerdict, PasswordVerifier } from '../registry/password-verifier.ts';
import { decoysLike } from '../registry/passwords.ts';
import { originOf, type Source } from '../registry/rate-limiter.ts';
import { isDigestOf } from './client-changes.ts';
import { clockToleranceSeconds, verifyClientJwt } from './client-jwt.ts';
import type { OpenedExtension } from './extension.ts';
import type { Limits } from './limits.ts';
import type { Tenant } from './tenant.ts';

/** What a request says about its sender; empty parameters count as absent. */
export interface ShownCredentials {
  readonly authorization: string | undefined;
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  readonly clientAssertion: string | undefined;
  readonly clientAssertionType: string | undefined;
  readonly address: Source;
}

/**
 * severalMethods  More than one proof was offered.
 * assertionType   An assertion without the right type, or a type without an assertion.
 * clientUnnamed   Nothing says which client this is.
 * clientRefused   Unknown client, wrong proof, or not the registered method.
 * tooMany         Too many secrets are being tried at the moment.
 */
export type ClientVerdict =
  | {
      readonly ok: true;
      readonly client: OauthClient;
      /** False for a public client, which anyone can claim to be. */
      readonly proven: boolean;
    }
  | {
      readonly ok: false;
      readonly reason:
        | 'severalMethods'
        | 'assertionType'
        | 'clientUnnamed'
        | 'clientRefused'
        | 'tooMany';
      /** The client that was claimed, for the log; undefined when it is unknown. */
      readonly claimed: OauthClient | undefined;
    };

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** An assertion is remembered until it expires, so its lifetime is bounded. */
const maxAssertionSeconds = 3600;

const refused = (
  reason: Extract<ClientVerdict, { ok: false }>['reason'],
  claimed?: OauthClient,
): ClientVerdict => ({ ok: false, reason, claimed });

const basicPattern = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
const printable = /^[\x20-\x7e]*$/;

const formDecoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));

/** @returns Undefined for another scheme, and when it is not form-encoded, printable ASCII. */
export const parseBasic = (
  authorization: string,
): { readonly id: string; readonly secret: string } | undefined => {
  const encoded = basicPattern.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString();
  const colon = pair.indexOf(':');
  if (colon < 1) return undefined;
  try {
    const id = formDecoded(pair.slice(0, colon));
    const secret = formDecoded(pair.slice(colon + 1));
    return printable.test(id) && printable.test(secret) ? { id, secret } : undefined;
  } catch {
    return undefined;
  }
};

/** The client that an assertion names; nothing is verified. */
const subjectOf = (assertion: string): string | undefined => {
  try {
    return decodeJwt(assertion).sub;
  } catch {
    return undefined;
  }
};

/** The paths below the issuer at which clients authenticate. An assertion may name any of them. */
export const authenticatedPaths = (
  extensions: readonly Pick<OpenedExtension, 'endpoints'>[] = [],
): readonly string[] => [
  '/par',
  '/token',
  '/token/introspection',
  '/token/revocation',
  ...extensions.flatMap(({ endpoints }) => endpoints),
];

const assertionTypes: readonly unknown[] = [undefined, 'jwt', 'client-authentication+jwt'];

/**
 * Names that only a request has. A request that the client has signed must not pass for an
 * assertion (RFC 9101 10.8); the other way round, an assertion has no `client_id`.
 */
const requestClaims = ['client_id', 'response_type', 'redirect_uri', 'scope', 'login_hint'];

const isAssertion = (
  { exp = 0, jti, sub, ...claims }: JWTPayload,
  typ: unknown,
  nowMs: number,
): boolean =>
  assertionTypes.includes(typ) &&
  !requestClaims.some((name) => name in claims) &&
  exp <= nowMs / 1000 + maxAssertionSeconds + clockToleranceSeconds &&
  sub === claims.iss &&
  typeof jti === 'string' &&
  jti !== '';

/** @returns The jti and its expiry; undefined when the assertion proves nothing. */
const verifyAssertion = async (
  assertion: string,
  client: OauthClient | undefined,
  audience: readonly string[],
  nowMs: number,
) => {
  try {
    const expected = { client, audience: [...audience], requiredClaims: ['exp', 'jti', 'sub'] };
    const { payload, protectedHeader } = await verifyClientJwt(assertion, expected, nowMs);
    if (!isAssertion(payload, protectedHeader.typ?.toLowerCase(), nowMs)) return undefined;
    return { jti: String(payload.jti), exp: Number(payload.exp) };
  } catch {
    // The client writes all of the assertion, so every error is the client's.
    return undefined;
  }
};

/**
 * Whether a secret is one of this client, and the client may send it in this way; `busy` when too
 * many were tried from that address.
 */
export type SecretCheck = (
  tenant: Tenant,
  offered: {
    readonly address: Source;
    readonly clientId: string;
    readonly secret: string;
    readonly method: 'client_secret_basic' | 'client_secret_post';
  },
) => Promise<PasswordVerdict>;

export const createSecretCheck = (
  passwords: PasswordVerifier,
  limits: Pick<Limits, 'barredWait'>,
): SecretCheck => {
  const seed = randomBytes(32).toString('hex');

  const decoysOfTenants = new WeakMap<Tenant, ReturnType<typeof decoysLike>[]>();

  /**
   * Stand-ins that cost what the tenant's secrets cost. Each push needs them, so they are made
   * once.
   */
  const decoysOf = (tenant: Tenant): ReturnType<typeof decoysLike>[] => {
    const known = decoysOfTenants.get(tenant);
    if (known !== undefined) return known;
    const stored = [...tenant.clients.values()].flatMap(({ secretHash }) => secretHash ?? []);
    const found = stored.map(decoysLike);
    decoysOfTenants.set(tenant, found);
    return found;
  };

  const usualDecoys = decoysLike(undefined);

  /** An id has the same decoy each time, with the cost of one of the tenant's secrets. */
  const decoyOf = (tenant: Tenant, clientId: string): string => {
    const decoys = decoysOf(tenant);
    const own = hash('sha256', `${seed} ${tenant.id} ${clientId}`, 'buffer');
    return (decoys[own.readUInt32BE() % decoys.length] ?? usualDecoys)(own);
  };

  return async (tenant, { address, clientId, secret, method }) => {
    if (limits.barredWait(address, tenant, clientId) > 0) return 'busy';
    const found = tenant.clients.get(clientId);
    const mayUse = found?.authentication === method || found?.authentication === 'client_secret';
    const { stored, digests = [] } = await tenant.secretsOf(mayUse ? found : undefined);
    const decoy = decoyOf(tenant, clientId);
    if (digests.some((digest) => isDigestOf(digest, secret))) return 'right';
    // Made of the given id: how many wait must not tell whether it exists.
    const lane = `oidc ${tenant.id} ${clientId}`;
    return passwords.verify(stored ?? decoy, secret, lane, originOf(address));
  };
};

export const createClientAuthentication = (
  checkSecret: SecretCheck,
  now: () => number,
  extensions: readonly Pick<OpenedExtension, 'endpoints'>[] = [],
) => {
  const paths = ['', ...authenticatedPaths(extensions)];

  const bySecret = async (
    tenant: Tenant,
    offered: Parameters<SecretCheck>[1],
  ): Promise<ClientVerdict> => {
    const client = tenant.clients.get(offered.clientId);
    const verdict = await checkSecret(tenant, offered);
    if (verdict === 'busy') return refused('tooMany', client);
    return client !== undefined && verdict === 'right'
      ? { ok: true, client, proven: true }
      : refused('clientRefused', client);
  };

  const byAssertion = async (tenant: Tenant, assertion: string): Promise<ClientVerdict> => {
    const claimed = tenant.clients.get(subjectOf(assertion) ?? '');
    const client = claimed?.authentication === 'private_key_jwt' ? claimed : undefined;
    const audience = paths.map((path) => `${tenant.issuer}${path}`);
    const verified = await verifyAssertion(assertion, client, audience, now());
    if (client === undefined || verified === undefined) return refused('clientRefused', claimed);
    const seconds = verified.exp + clockToleranceSeconds + 1 - now() / 1000;
    return (await tenant.store.putOnce('assertion', `${client.id} ${verified.jti}`, 1, seconds))
      ? { ok: true, client, proven: true }
      : refused('clientRefused', client);
  };

  return async (tenant: Tenant, shown: ShownCredentials): Promise<ClientVerdict> => {
    const { authorization, clientId, clientSecret, clientAssertion, clientAssertionType, address } =
      shown;
    const proofs = [authorization, clientSecret, clientAssertion].filter(
      (proof) => proof !== undefined,
    );
    if (proofs.length > 1) return refused('severalMethods');
    if (authorization !== undefined) {
      const basic = parseBasic(authorization);
      return basic === undefined
        ? refused('clientRefused')
        : bySecret(tenant, {
            method: 'client_secret_basic',
            address,
            clientId: basic.id,
            secret: basic.secret,
          });
    }
    if (clientAssertion !== undefined || clientAssertionType !== undefined) {
      return clientAssertion === undefined || clientAssertionType !== assertionType
        ? refused('assertionType')
        : byAssertion(tenant, clientAssertion);
    }
    if (clientId === undefined) return refused('clientUnnamed');
    if (clientSecret !== undefined) {
      return bySecret(tenant, {
        method: 'client_secret_post',
        address,
        clientId,
        secret: clientSecret,
      });
    }
    const client = tenant.clients.get(clientId);
    return client?.authentication === 'none'
      ? { ok: true, client, proven: false }
      : refused('clientRefused', client);
  };
};
