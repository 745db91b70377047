/**
 * Keeps a request as the library's own endpoint would: parameters as a JWT that nobody has signed, because nobody else can
 * write here, under a handle that nobody can guess.
 */
import { randomBytesOf } from '../../pki/random.ts';
import type { OauthClient } from '../../registry/oauth-client.ts';
import type { Tenant } from '../tenant.ts';

export const handlePrefix = 'urn:ietf:params:oauth:request_uri:';

/** Two times 128 bits, as the interface draws it; either half would be enough. */
const newHandle = (): string => {
  const random = randomBytesOf(32);
  return `${random.toString('base64url', 0, 16)}.${random.toString('base64url', 16)}`;
};

const unsignedHeader = Buffer.from('{"alg":"none"}').toString('base64url');

const unsignedJwt = (claims: object): string =>
  `${unsignedHeader}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`;

export interface RequestToKeep {
  /** Parameters in effect. */
  readonly request: Readonly<Record<string, string>>;
  /** It was authenticated, by the client's secret or key or by a signed request. */
  readonly trusted: boolean;
  /** Thumbprint of the key that the tokens are bound to. */
  readonly dpopJkt: string | undefined;
  /** Seconds since the epoch. */
  readonly at: number;
  readonly lifeSeconds: number;
}

/** @returns The request_uri. @throws When Redis is unreachable. */
export const keepRequest = async (
  tenant: Tenant,
  client: OauthClient,
  { request, trusted, dpopJkt, at, lifeSeconds }: RequestToKeep,
): Promise<string> => {
  const { PushedAuthorizationRequest } = await tenant.provider();
  const jti = newHandle();
  const claims = { ...request, iss: client.id, aud: tenant.issuer, iat: at, nbf: at, exp: at + lifeSeconds };
  const pushed = new PushedAuthorizationRequest({ request: unsignedJwt(claims), dpopJkt });
  // The published types do not know the one, and take the other for a list.
  Object.assign(pushed, { jti, trusted });
  await pushed.save(lifeSeconds);
  return `${handlePrefix}${jti}`;
};
