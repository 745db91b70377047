/**
 * Asks the phone for a backchannel request, before the client is told that its request was taken.
 *
 * What the transaction is made of is written down first, and which transaction it is right after it was started; a request that
 * the client is told of is therefore durable in all its parts. A refusal to begin with (no such method, too many prompts) is an
 * error of this request and not a result to poll for: the client learns of it without waiting, and nothing is kept. When
 * something breaks after the phone was asked, the client is told of a failure, and the prompt is taken back if that can be done:
 * nobody would learn what the person answers.
 */
import type { BackchannelAuthenticationRequest, KoaContextWithOIDC } from 'oidc-provider';
import { randomBytesOf } from '../../pki/random.ts';
import { fault } from '../../protocol/fault.ts';
import type { OauthDeps } from '../deps.ts';
import { acrValuesIn } from '../evidence.ts';
import { textIn } from '../library.ts';
import { errorOfFault } from '../login-failures.ts';
import { type LoginStart, type Logins, type StartedLogin, traceOf } from '../logins.ts';
import { chooseLanguage } from '../pages/page.ts';
import type { Tenant } from '../tenant.ts';
import { denied, refusal, unavailable } from './parameters.ts';
import type { Pings } from './pings.ts';
import { type BackchannelLogin, createBackchannelRecords } from './records.ts';

/** How often a client may ask; the default of the specification (OpenID Connect CIBA section 7.3), told in the answer, too. */
export const pollEverySeconds = 5;

/**
 * Everything that the transaction is made of is in the record, so starting it again is the same transaction and not a second
 * prompt.
 */
export const startLogin = async (
  logins: Logins,
  tenant: Tenant,
  login: BackchannelLogin,
): Promise<LoginStart> => {
  const client = tenant.clients.get(login.clientId);
  // The client was taken out of the configuration meanwhile.
  if (client === undefined) return { kind: 'refused', fault: fault(900) };
  return logins.start({
    ...login,
    tenant,
    client,
    scopes: new Set(login.scopes),
    // There is no page that could show a number beside it: the binding message is what a person compares here.
    matchNumber: undefined,
  });
};

export type BeginOptions = Pick<OauthDeps, 'logins' | 'limits' | 'subscribers' | 'now' | 'log'> & {
  readonly pings: Pick<Pings, 'expect'>;
  readonly settings: { readonly promptSeconds: number };
};

export const createBegin = ({ logins, limits, pings, settings, subscribers, now, log }: BeginOptions) => {
  const loginOf = (
    request: BackchannelAuthenticationRequest,
    { clientId, msisdn }: { readonly clientId: string; readonly msisdn: string },
  ): BackchannelLogin => {
    const { acr_values, binding_message, dtbd, ui_locales } = request.params ?? {};
    const begunAt = now();
    return {
      clientId,
      msisdn,
      language: chooseLanguage(textIn(ui_locales), subscribers.find(msisdn)?.language),
      acrValues: acrValuesIn(acr_values),
      scopes: [...request.scopes],
      dtbd: textIn(dtbd),
      // The client shows its binding message. Without one nobody shows what the phone could be compared with.
      sessionCode: textIn(binding_message) ?? '',
      reference: `B${randomBytesOf(16).toString('hex')}`,
      begunAt,
      promptSeconds: Math.min(settings.promptSeconds, request.expiration),
      expiresAt: begunAt + request.expiration * 1000,
      started: undefined,
    };
  };

  const refusalOf = (start: Exclude<LoginStart, { kind: 'started' }>, login: BackchannelLogin): Error => {
    if (start.kind === 'busy') return unavailable(503, 'the service is busy');
    // The text was put together here, out of what the client has brought and of what the operator has written.
    if (start.fault.code === 103) {
      return login.dtbd === undefined
        ? refusal('invalid_binding_message', 'otherRequest', 'binding_message is too long for the phone')
        : refusal('invalid_request', 'otherRequest', 'dtbd is too long for the phone');
    }
    return denied(errorOfFault(start.fault, traceOf(login)));
  };

  const keep = async (tenant: Tenant, authReqId: string, login: BackchannelLogin): Promise<void> => {
    await createBackchannelRecords(tenant.store, now).putLogin(authReqId, login);
    if (tenant.clients.get(login.clientId)?.backchannel?.delivery === 'ping') {
      await pings.expect(tenant, authReqId, login);
    }
  };

  /** Never rejects: what is told is what has broken first. */
  const takeBack = async ({ msspTransId }: StartedLogin): Promise<void> => {
    try {
      await logins.cancel(msspTransId);
    } catch (error) {
      log.trouble(error instanceof Error ? error : new Error('a prompt could not be taken back'));
    }
  };

  const ask = async (
    ctx: KoaContextWithOIDC,
    tenant: Tenant,
    request: BackchannelAuthenticationRequest,
    who: { readonly clientId: string; readonly msisdn: string },
  ): Promise<void> => {
    const retryLater = (): void => ctx.set('retry-after', String(limits.retryAfterSeconds));
    // The address is that of the client's server, which all of its users share.
    if (!(await limits.mayPrompt(tenant, { ...who, address: undefined }))) {
      log.audit({ event: 'login limited', tenant: tenant.id, clientId: who.clientId });
      retryLater();
      throw unavailable(429, 'too many prompts');
    }
    const login = loginOf(request, who);
    await createBackchannelRecords(tenant.store, now).putLogin(request.jti, login);
    const start = await startLogin(logins, tenant, login);
    if (start.kind !== 'started') {
      if (start.kind === 'busy') retryLater();
      throw refusalOf(start, login);
    }
    const { kind: _, ...transaction } = start;
    try {
      await keep(tenant, request.jti, { ...login, started: transaction });
    } catch (error) {
      await takeBack(transaction);
      throw error;
    }
    log.audit({
      event: 'login begun',
      tenant: tenant.id,
      clientId: who.clientId,
      msspTransId: transaction.msspTransId,
      trace: traceOf(login),
    });
  };

  return async (
    ctx: KoaContextWithOIDC,
    tenant: Tenant,
    request: BackchannelAuthenticationRequest,
    who: { readonly clientId: string; readonly msisdn: string },
  ): Promise<void> => {
    try {
      await ask(ctx, tenant, request, who);
    } catch (error) {
      await request.destroy().catch(() => undefined);
      throw error;
    }
    ctx.body = { ...(ctx.body as object), interval: pollEverySeconds };
  };
};
