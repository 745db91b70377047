/**
 * The clients of the sandbox.
 *
 * demo         A web application with the secret `demo-secret`.
 * demo-public  An app without a secret: PKCE.
 * demo-201     Like demo, for libraries that accept only 201 for a pushed request.
 *
 * The secret is public, because a sandbox has no real users.
 */
import { type OauthClient, oauthScopes, plainClient } from '../../src/registry/oauth-client.ts';

export const demoSecret = 'demo-secret';

/** The stored form of the secret, which is cheap to verify. */
const demoSecretHash =
  '$scrypt$ln=10,r=8,p=1$5sAOLsdjgvOuUFEiskUnug$ZlZuCWV1Bc98qEgHhW2IlTbPMgNIEkYDVQxkbL2NFxg';

export const demoCallbackPath = '/demo/callback';

const client = (
  publicUrl: string,
  own: Pick<OauthClient, 'id' | 'name'> & Partial<OauthClient>,
): OauthClient => ({
  ...plainClient,
  secretHash: demoSecretHash,
  redirectUris: [`${publicUrl}${demoCallbackPath}`],
  postLogoutRedirectUris: [`${publicUrl}/demo`],
  scopes: oauthScopes,
  refreshTokens: true,
  loginHintAllowed: true,
  dtbdAllowed: true,
  textMessageLogin: true,
  numberMatching: true,
  phoneStart: 'offered',
  sector: new URL(publicUrl).hostname,
  ...own,
});

/** @param publicUrl The origin of this server: `http://127.0.0.1:8080`. */
export const demoClients = (publicUrl: string): readonly OauthClient[] => [
  client(publicUrl, { id: 'demo', name: 'Demo' }),
  client(publicUrl, {
    id: 'demo-public',
    name: 'Demo app',
    authentication: 'none',
    secretHash: undefined,
  }),
  client(publicUrl, { id: 'demo-201', name: 'Demo 201', parSuccessStatus: 201 }),
];
