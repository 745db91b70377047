import type { Configuration } from 'oidc-provider';

/**
 * The library's hook for the grant of a login that has just ended, or of one that counts for another client too: then the grant
 * is made when that client asks.
 */
export const existingGrantWith =
  (singleSignOnSeconds: number): NonNullable<Configuration['loadExistingGrant']> =>
  async (ctx) => {
    const { client, session, provider, result } = ctx.oidc;
    if (client === undefined || session?.accountId === undefined) return undefined;
    const grantId = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
    const found = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    const mayReuse = found !== undefined && (result?.consent !== undefined || singleSignOnSeconds > 0);
    const grant = mayReuse
      ? found
      : new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    const before = grant.getOIDCScope();
    grant.addOIDCScope([...ctx.oidc.requestParamOIDCScopes].join(' '));
    if (grant.jti === undefined || grant.getOIDCScope() !== before) await grant.save();
    return grant;
  };
