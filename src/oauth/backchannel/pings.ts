/**
 * Tells clients in ping mode that a login has ended. What happens when is up to a chart (machines/ping.machine.ts), whose instances
 * outlive this process; here is what is done for it.
 */
import type { PingLogin, PingResult, PingTry } from '../../../machines/ping.machine.ts';
import type { OauthDeps } from '../deps.ts';
import type { Tenant } from '../tenant.ts';
import { createPingWork, type PingWorkOptions } from './ping.worker.ts';
import { type BackchannelLogin, createBackchannelRecords } from './records.ts';
import type { Settle } from './settlement.ts';

export interface Pings {
  /** From now on the client will be told when the login ends. */
  expect(tenant: Tenant, authReqId: string, login: BackchannelLogin): Promise<void>;
  /** Begins to wait for logins. Safe to call again. */
  start(): void;
  /** Leaves what is open to others. Safe to call again. */
  close(): Promise<void>;
}

/** After the deadline a transaction takes a moment to end. */
const endMarginMs = 5000;
/** One call to a client's endpoint. */
const timeoutMs = 5000;

/**
 * told     The client has it.
 * failed   It may be different next time; `why` holds no secret.
 * refused  It will not be.
 */
type Notified = { readonly kind: 'told' } | { readonly kind: 'failed' | 'refused'; readonly why: string };

/** Redirects are not followed: the token is for the configured address alone. */
const outcomeOf = (status: number): Notified =>
  status >= 200 && status < 300
    ? { kind: 'told' }
    : { kind: status >= 500 ? 'failed' : 'refused', why: `status ${status}` };

/**
 * One call to a client's notification endpoint: `auth_req_id`, with the token that the client has given for it. Never rejects.
 *
 * The library's own `backchannelPing` gives up after 2.5 seconds, tries once, and refuses addresses of private networks,
 * which is where many clients of an operator are. The address here is the operator's own word, from the configuration.
 *
 * Source: OpenID Connect CIBA section 10.2.
 */
export const notify = async (
  endpoint: string,
  { token, authReqId }: { readonly token: string; readonly authReqId: string },
  { fetch, signal }: { readonly fetch: typeof globalThis.fetch; readonly signal: AbortSignal },
): Promise<Notified> => {
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ auth_req_id: authReqId }),
      signal,
    });
    await response.body?.cancel();
    return outcomeOf(response.status);
  } catch (error) {
    // The message may quote the request; its kind does not.
    return { kind: 'failed', why: error instanceof Error ? error.name : 'unknown' };
  }
};

const hasPings = ({ clients }: Tenant): boolean =>
  [...clients.values()].some(({ backchannel }) => backchannel?.delivery === 'ping');

export const createPings = (
  { tenants, logins, fetch, now, log }: Pick<OauthDeps, 'tenants' | 'logins' | 'fetch' | 'now' | 'log'>,
  settle: Settle,
  work: PingWorkOptions,
): Pings => {
  const find = async (tenant: Tenant, reference: string) => {
    const records = createBackchannelRecords(tenant.store, now);
    const ping = await records.ping(reference);
    const login = ping && (await records.login(ping.authReqId));
    return ping && login && { authReqId: ping.authReqId, login };
  };

  const untilSettled = async (
    { tenantId, reference }: PingLogin,
    stop: AbortSignal,
  ): Promise<boolean | undefined> => {
    const tenant = tenants.find(tenantId);
    // Of a later configuration, perhaps, which other processes have.
    if (tenant === undefined) return undefined;
    const found = await find(tenant, reference);
    if (found === undefined) return false;
    const { started } = found.login;
    if (started !== undefined) {
      const { msspTransId, deadline } = started;
      await logins.ended(msspTransId, Math.max(deadline, now()) + endMarginMs, stop);
    }
    return (!stop.aborted && (await settle(tenant, found.authReqId))) || undefined;
  };

  const ping = async (
    { tenantId, reference, isLast }: PingTry,
    stop: AbortSignal,
  ): Promise<PingResult | undefined> => {
    const tenant = tenants.find(tenantId);
    if (tenant === undefined) return undefined;
    const found = await find(tenant, reference);
    if (found === undefined) return 'unwanted';
    const { authReqId, login } = found;
    const provider = await tenant.provider();
    const request = await provider.BackchannelAuthenticationRequest.find(authReqId);
    // Expired; or the client has its tokens already, and asking again would look like theft to the library and revoke them.
    if (request === undefined || request.consumed) return 'unwanted';
    const backchannel = tenant.clients.get(login.clientId)?.backchannel;
    const token = request.params?.client_notification_token;
    if (backchannel?.delivery !== 'ping' || typeof token !== 'string') return 'unwanted';
    const signal = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
    const notified = await notify(backchannel.notificationEndpoint, { token, authReqId }, { fetch, signal });
    if (notified.kind === 'told') return 'told';
    const isOver = notified.kind === 'refused' || isLast;
    if (isOver && !stop.aborted) {
      log.trouble(new Error(`client ${login.clientId} could not be notified: ${notified.why}`));
    }
    return notified.kind === 'refused' ? 'unwanted' : 'failed';
  };

  const { add, start, close } = createPingWork({ untilSettled, ping }, work);
  return {
    start: () => {
      // A worker costs a connection, and most services have no such client.
      if (tenants.all.some(hasPings)) start();
    },
    close,
    expect: async (tenant, authReqId, login) => {
      await createBackchannelRecords(tenant.store, now).putPing(login, { authReqId });
      const { reference, expiresAt } = login;
      await add({ tenantId: tenant.id, reference, lifetimeMs: Math.max(expiresAt - now(), 0) });
    },
  };
};
