/**
 * Asks the phone for a backchannel request, before the client is told that the request is accepted.
 *
 * The record of the login is stored before the transaction is started, and the id of the
 * transaction right after. So an accepted request is durable in all its parts. When the phone
 * cannot be asked, the request itself fails and nothing is kept. When something breaks after the
 * phone was asked, the client gets an error and the prompt is cancelled, because nobody would learn
 * the answer.
 */
import type { BackchannelAuthenticationRequest, KoaContextWithOIDC } from 'oidc-provider';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { randomBytesOf } from '../../packages/pki/src/random.ts';
import { fault } from '../../packages/protocol/src/fault.ts';
import { chooseLanguage } from '../../src/http/pages/language.ts';
import type { OauthDeps } from '../../src/oauth/deps.ts';
import { parseAcrValues } from '../../src/oauth/evidence.ts';
import { readText } from '../../src/oauth/library.ts';
import { soonSeconds } from '../../src/oauth/limits.ts';
import { toLoginError } from '../../src/oauth/login-failures.ts';
import { type LoginStart, type Logins, traceOf } from '../../src/oauth/logins.ts';
import type { Tenant } from '../../src/oauth/tenant.ts';
import { notificationEndpointOf } from './configuration.ts';
import { denied, refusal, unavailable } from './parameters.ts';
import type { Pings } from './pings.ts';
import { type BackchannelLogin, createBackchannelRecords } from './records.ts';

/** The least seconds between two polls of a client: the default of CIBA section 7.3. */
export const pollEverySeconds = 5;

/**
 * Starts the transaction of a record. Starting it again gives the same transaction, not a second
 * prompt.
 */
export const startLogin = async (
  logins: Logins,
  tenant: Tenant,
  login: BackchannelLogin,
): Promise<LoginStart> => {
  const client = tenant.clients.get(login.clientId);
  // The client was removed from the configuration meanwhile.
  if (client === undefined) return { kind: 'refused', fault: fault(900) };
  // No page could show a number to match; people compare the binding message here.
  return logins.start({
    ...login,
    tenant,
    client,
    scopes: new Set(login.scopes),
    matchNumber: undefined,
  });
};

export type BeginOptions = Pick<OauthDeps, 'logins' | 'limits' | 'subscribers' | 'now' | 'log'> & {
  readonly pings: Pick<Pings, 'expect'>;
  readonly settings: { readonly promptSeconds: number };
};

type Who = { readonly clientId: string; readonly msisdn: string };

export const createBegin = ({
  logins,
  limits,
  pings,
  settings,
  subscribers,
  now,
  log,
}: BeginOptions) => {
  const toLogin = async (
    request: BackchannelAuthenticationRequest,
    { clientId, msisdn }: Who,
  ): Promise<BackchannelLogin> => {
    const { acr_values, binding_message, dtbd, ui_locales } = request.params ?? {};
    const begunAt = now();
    return {
      clientId,
      msisdn,
      language: chooseLanguage(readText(ui_locales), (await subscribers.find(msisdn))?.language),
      acrValues: parseAcrValues(acr_values),
      scopes: [...request.scopes],
      dtbd: readText(dtbd),
      // The client shows its binding message. Without one there is nothing to compare the phone
      // with.
      sessionCode: readText(binding_message) ?? '',
      reference: `B${randomBytesOf(16).toString('hex')}`,
      begunAt,
      promptSeconds: Math.min(settings.promptSeconds, request.expiration),
      expiresAt: begunAt + request.expiration * 1000,
      started: undefined,
    };
  };

  const toClientError = (
    start: Exclude<LoginStart, { kind: 'started' }>,
    login: BackchannelLogin,
  ): Error => {
    if (start.kind === 'busy') return unavailable(503, 'the service is busy');
    // The text is made of what the client has sent and of what the operator has configured.
    if (start.fault.code === 103) {
      return login.dtbd === undefined
        ? refusal(
            'invalid_binding_message',
            'otherRequest',
            'binding_message is too long for the phone',
          )
        : refusal('invalid_request', 'otherRequest', 'dtbd is too long for the phone');
    }
    return denied(toLoginError(start.fault, traceOf(login)));
  };

  const ask = async (
    ctx: KoaContextWithOIDC,
    tenant: Tenant,
    request: BackchannelAuthenticationRequest,
    who: Who,
  ): Promise<void> => {
    // The address is that of the client's server, which all of its users share.
    const seconds = await limits.promptWait(tenant, { ...who, address: undefined });
    if (seconds > 0) {
      log.audit({ event: 'login limited', tenant: tenant.id, clientId: who.clientId });
      ctx.set('retry-after', String(seconds));
      throw unavailable(429, 'too many prompts');
    }
    const login = await toLogin(request, who);
    const records = createBackchannelRecords(tenant.store, now);
    await records.putLogin(request.jti, login);
    const start = await startLogin(logins, tenant, login);
    if (start.kind !== 'started') {
      if (start.kind === 'busy') ctx.set('retry-after', String(soonSeconds));
      throw toClientError(start, login);
    }
    const { kind: _, ...started } = start;
    const { msspTransId } = started;
    try {
      await records.putLogin(request.jti, { ...login, started });
      if (notificationEndpointOf(tenant.clients.get(login.clientId)) !== undefined) {
        await pings.expect(tenant, request.jti, login);
      }
    } catch (error) {
      // The client is told of the first error; one of the cancellation is only logged.
      await logins.cancel(msspTransId).catch((failed: unknown) => log.trouble(toError(failed)));
      throw error;
    }
    log.audit({
      event: 'login begun',
      tenant: tenant.id,
      clientId: who.clientId,
      msspTransId,
      trace: traceOf(login),
    });
  };

  const begin: typeof ask = async (ctx, tenant, request, who) => {
    try {
      await ask(ctx, tenant, request, who);
    } catch (error) {
      await request.destroy().catch(() => undefined);
      throw error;
    }
    ctx.body = { ...(ctx.body as object), interval: pollEverySeconds };
  };
  return begin;
};
