/**
 * Authenticates a tenant's clients, each by the one method that it is registered with.
 *
 * Every wrong identity gets the same refusal. Where a secret was offered, the refusal costs about
 * the same time too: without a stored secret it is compared with a decoy. Otherwise the time would
 * tell which clients exist.
 *
 * Sources: RFC 6749 2.3.1, RFC 7523 3, OpenID Connect Core 9 (private_key_jwt), RFC 9126 2.
 */
import { createLocalJWKSet, decodeJwt, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { type OauthClient, signingAlgorithms } from '../registry/oauth-client.ts';
import type { PasswordVerdict, PasswordVerifier } from '../registry/password-verifier.ts';
import { decoyPassword } from '../registry/passwords.ts';
import { originOf, type Source } from '../registry/rate-limiter.ts';
import { isDigestOf } from './client-changes.ts';
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
      readonly reason: 'severalMethods' | 'assertionType' | 'clientUnnamed' | 'clientRefused' | 'tooMany';
      /** The client that was claimed, for the log; undefined when it is unknown. */
      readonly claimed: OauthClient | undefined;
    };

/** For clients' clocks, here and at the library's endpoints. */
export const clockToleranceSeconds = 15;

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

const keySets = new WeakMap<OauthClient, JWTVerifyGetKey>();

/**
 * The registered keys of a client. A key without a kid is the only one of its client, so the kid of
 * a token is ignored then.
 */
export const keysOf = (client: OauthClient): JWTVerifyGetKey => {
  const known = keySets.get(client);
  if (known !== undefined) return known;
  const select = createLocalJWKSet({ keys: client.keys.map((key) => ({ ...key })) });
  const areNamed = client.keys.some(({ kid }) => kid !== undefined);
  const keys: JWTVerifyGetKey = areNamed ? select : ({ kid: _, ...header }, token) => select(header, token);
  keySets.set(client, keys);
  return keys;
};

/** The client that an assertion names; nothing is verified. */
const subjectOf = (assertion: string): string | undefined => {
  try {
    return decodeJwt(assertion).sub;
  } catch {
    return undefined;
  }
};

/** @returns The jti and its expiry; undefined when the assertion proves nothing. */
const verifyAssertion = async (assertion: string, client: OauthClient, issuer: string, nowMs: number) => {
  try {
    const { payload, protectedHeader } = await jwtVerify(assertion, keysOf(client), {
      algorithms: [...signingAlgorithms],
      issuer: client.id,
      subject: client.id,
      audience: [issuer, `${issuer}/par`, `${issuer}/token`],
      requiredClaims: ['exp', 'jti'],
      currentDate: new Date(nowMs),
      clockTolerance: clockToleranceSeconds,
    });
    const { exp = 0, jti } = payload;
    const isTyped = [undefined, 'jwt', 'client-authentication+jwt'].includes(
      protectedHeader.typ?.toLowerCase(),
    );
    const isShortLived = exp <= nowMs / 1000 + maxAssertionSeconds;
    return isTyped && isShortLived && typeof jti === 'string' && jti !== '' ? { jti, exp } : undefined;
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
  const decoys = new WeakMap<Tenant, string>();
  const decoyOf = (tenant: Tenant): string => {
    const known = decoys.get(tenant);
    if (known !== undefined) return known;
    const hashes = [...tenant.clients.values()].map(({ secretHash }) => secretHash);
    const decoy = decoyPassword(hashes.find((hash) => hash !== undefined));
    decoys.set(tenant, decoy);
    return decoy;
  };

  return async (tenant, { address, clientId, secret, method }) => {
    if (limits.barredWait(address, tenant, clientId) > 0) return 'busy';
    const found = tenant.clients.get(clientId);
    const mayUse = found?.authentication === method || found?.authentication === 'client_secret';
    const { stored, digests = [] } = found !== undefined && mayUse ? await tenant.secretsOf(found) : {};
    if (digests.some((digest) => isDigestOf(digest, secret))) return 'right';
    return passwords.verify(stored ?? decoyOf(tenant), secret, undefined, originOf(address));
  };
};

export const createClientAuthentication = (checkSecret: SecretCheck, now: () => number) => {
  const bySecret = async (tenant: Tenant, offered: Parameters<SecretCheck>[1]): Promise<ClientVerdict> => {
    const client = tenant.clients.get(offered.clientId);
    const verdict = await checkSecret(tenant, offered);
    if (verdict === 'busy') return refused('tooMany', client);
    return client !== undefined && verdict === 'right'
      ? { ok: true, client, proven: true }
      : refused('clientRefused', client);
  };

  const byAssertion = async (tenant: Tenant, assertion: string): Promise<ClientVerdict> => {
    const client = tenant.clients.get(subjectOf(assertion) ?? '');
    if (client?.authentication !== 'private_key_jwt') return refused('clientRefused', client);
    const verified = await verifyAssertion(assertion, client, tenant.issuer, now());
    if (verified === undefined) return refused('clientRefused');
    // The library's endpoints use the same memory, so an assertion works once across all of them.
    const { ReplayDetection } = await tenant.provider();
    const until = verified.exp + clockToleranceSeconds + 1;
    return (await ReplayDetection.unique(client.id, verified.jti, until))
      ? { ok: true, client, proven: true }
      : refused('clientRefused');
  };

  return async (tenant: Tenant, shown: ShownCredentials): Promise<ClientVerdict> => {
    const { authorization, clientId, clientSecret, clientAssertion, clientAssertionType, address } = shown;
    const proofs = [authorization, clientSecret, clientAssertion].filter((proof) => proof !== undefined);
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
      return bySecret(tenant, { method: 'client_secret_post', address, clientId, secret: clientSecret });
    }
    const client = tenant.clients.get(clientId);
    return client?.authentication === 'none'
      ? { ok: true, client, proven: false }
      : refused('clientRefused', client);
  };
};
