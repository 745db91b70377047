/** Writes the library's events to the audit log. Of a token only its kind is written. */
import type { EventEmitter } from 'node:events';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { findErrorCode } from './error-codes.ts';
import type { OauthEntry, OauthEvent, OauthLog } from './log.ts';

interface LibraryError {
  readonly error?: string;
  readonly error_description?: string | undefined;
}

/** Our own errors hold their code. */
const codeIn = (
  words: string | undefined,
): { readonly code: string; readonly trace: string } | undefined => {
  const [, code, trace] = /^mid_([a-z]+_\d+)_([\w-]{8}) - /.exec(words ?? '') ?? [];
  return code === undefined || trace === undefined ? undefined : { code, trace };
};

/**
 * Whether the caller may be guessing. An authenticated client may bring a bad code that somebody
 * put into its callback; to shut it out would help the attacker.
 */
const isSuspicious = (ctx: KoaContextWithOIDC, error: LibraryError): boolean =>
  error.error === 'invalid_client' ||
  (error.error === 'invalid_grant' && ctx.oidc.client?.clientAuthMethod === 'none');

export const listenTo = (
  provider: Provider,
  {
    tenant,
    refusalEvents,
    log,
    onSuspicious,
  }: {
    readonly tenant: string;
    /** Events of extensions that tell of a refused request. */
    readonly refusalEvents: readonly string[];
    readonly log: OauthLog;
    readonly onSuspicious: (ctx: KoaContextWithOIDC) => void;
  },
): void => {
  const entryOf = (
    ctx: KoaContextWithOIDC,
    event: OauthEvent,
    error?: LibraryError,
  ): OauthEntry => {
    const found = error && (codeIn(error.error_description) ?? findErrorCode(ctx, error.error));
    const { clientId } = ctx.oidc.client ?? {};
    return { event, tenant, clientId, error: error?.error, code: found?.code, trace: found?.trace };
  };
  const grantTypeOf = (ctx: KoaContextWithOIDC): string | undefined => {
    const grantType = ctx.oidc.params?.grant_type;
    return typeof grantType === 'string' ? grantType.slice(0, 64) : undefined;
  };
  provider.on('authorization.success', (ctx) => log.audit(entryOf(ctx, 'code issued')));
  provider.on('authorization.error', (ctx, error) =>
    log.audit(entryOf(ctx, 'request refused', error)),
  );
  provider.on('grant.success', (ctx) =>
    log.audit({ ...entryOf(ctx, 'tokens issued'), grantType: grantTypeOf(ctx) }),
  );
  provider.on('grant.revoked', (ctx) => log.audit(entryOf(ctx, 'grant revoked')));
  const refusedAs =
    (event: OauthEvent) =>
    (ctx: KoaContextWithOIDC, error: LibraryError): void => {
      // A poll before the result is not an event.
      if (error.error === 'authorization_pending') return;
      log.audit(entryOf(ctx, event, error));
      if (isSuspicious(ctx, error)) onSuspicious(ctx);
    };
  provider.on('grant.error', refusedAs('token refused'));
  provider.on('revocation.error', refusedAs('token refused'));
  provider.on('introspection.error', refusedAs('token refused'));
  for (const name of refusalEvents)
    (provider as EventEmitter).on(name, refusedAs('request refused'));
  provider.on('end_session.success', (ctx) => log.audit(entryOf(ctx, 'logged out')));
  provider.on('server_error', (_ctx, error) => log.trouble(error));
};
