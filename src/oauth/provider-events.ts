/**
 * The library's events as audit entries: what was handed out, what was refused. Nothing of a token but its kind.
 */
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { OauthEntry, OauthEvent, OauthLog } from './log.ts';

/** Of errors at the token endpoint, those by which somebody may be guessing. */
const suspicious = new Set(['invalid_grant', 'invalid_client']);

interface LibraryError {
  readonly error?: string;
}

export const listenTo = (
  provider: Provider,
  {
    tenant,
    log,
    onSuspicious,
  }: {
    readonly tenant: string;
    readonly log: OauthLog;
    readonly onSuspicious: (ctx: KoaContextWithOIDC) => void;
  },
): void => {
  const entryOf = (ctx: KoaContextWithOIDC, event: OauthEvent, error?: LibraryError): OauthEntry => ({
    event,
    tenant,
    clientId: ctx.oidc.client?.clientId,
    error: error?.error,
  });
  const grantTypeOf = (ctx: KoaContextWithOIDC): string | undefined => {
    const grantType = ctx.oidc.params?.grant_type;
    return typeof grantType === 'string' ? grantType.slice(0, 64) : undefined;
  };
  provider.on('authorization.success', (ctx) => log.audit(entryOf(ctx, 'code issued')));
  provider.on('authorization.error', (ctx, error) => log.audit(entryOf(ctx, 'request refused', error)));
  provider.on('grant.success', (ctx) =>
    log.audit({ ...entryOf(ctx, 'tokens issued'), grantType: grantTypeOf(ctx) }),
  );
  provider.on('grant.error', (ctx, error: LibraryError) => {
    // Asking whether a person has answered yet is no event.
    if (error.error === 'authorization_pending') return;
    log.audit(entryOf(ctx, 'token refused', error));
    if (suspicious.has(error.error ?? '')) onSuspicious(ctx);
  });
  provider.on('grant.revoked', (ctx) => log.audit(entryOf(ctx, 'grant revoked')));
  provider.on('revocation.error', (ctx, error) => log.audit(entryOf(ctx, 'token refused', error)));
  provider.on('introspection.error', (ctx, error) => log.audit(entryOf(ctx, 'token refused', error)));
  provider.on('backchannel_authentication.error', (ctx, error) =>
    log.audit(entryOf(ctx, 'request refused', error)),
  );
  provider.on('end_session.success', (ctx) => log.audit(entryOf(ctx, 'logged out')));
  provider.on('server_error', (_ctx, error) => log.trouble(error));
};
