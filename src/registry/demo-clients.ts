/**
 * The clients of the sandbox, so that a newcomer can log in within a minute and try a library of their own.
 *
 * demo         A web application with the secret `demo-secret`.
 * demo-public  An app without a secret: PKCE.
 * demo-201     Like demo, for libraries that accept nothing but 201 for a pushed request.
 *
 * The secret is public, so what protects them is that a sandbox has no users but made-up ones.
 */
import { type OauthClient, type OauthTenant, oauthScopes, plainClient } from './oauth-client.ts';

export const demoSecret = 'demo-secret';

/** Stored form of the secret, cheap to verify: there is nothing to protect by making it slow. */
const demoSecretHash =
  '$scrypt$ln=10,r=8,p=1$5sAOLsdjgvOuUFEiskUnug$ZlZuCWV1Bc98qEgHhW2IlTbPMgNIEkYDVQxkbL2NFxg';

/** Where the relying party of the sandbox takes people back. */
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
  sector: new URL(publicUrl).hostname,
  ...own,
});

/** @param publicUrl Origin of this server: `http://127.0.0.1:8080`. */
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

/** The first tenant gets the demo clients, but for those whose id is configured already. */
export const withDemoClients = (tenants: readonly OauthTenant[], publicUrl: string): readonly OauthTenant[] =>
  tenants.map((tenant, index) => {
    if (index > 0) return tenant;
    const taken = new Set(tenant.clients.map(({ id }) => id));
    const added = demoClients(publicUrl).filter(({ id }) => !taken.has(id));
    return { ...tenant, clients: [...tenant.clients, ...added] };
  });
