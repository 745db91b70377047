/**
 * Tells clients in ping mode that a login has ended. The chart (ping.machine.ts) decides what
 * happens when, and its instances outlive this process. This file does the work for the chart.
 */
import type { OauthDeps } from '../../src/oauth/deps.ts';
import type { Tenant } from '../../src/oauth/tenant.ts';
import { notificationEndpointOf } from './configuration.ts';
import type { PingLogin, PingResult, PingTry } from './ping.machine.ts';
import { createPingWork, type PingWorkOptions } from './ping.worker.ts';
import { type BackchannelLogin, createBackchannelRecords } from './records.ts';
import type { Settle } from './settlement.ts';

/** A transaction may end this long after its deadline. */
const endMarginMs = 5000;
/** One call to a client's endpoint. */
const timeoutMs = 5000;

/**
 * told     The client has it.
 * failed   A later try may succeed; `why` holds no secret.
 * refused  No later try will succeed.
 */
type Notified =
  | { readonly kind: 'told' }
  | { readonly kind: 'failed' | 'refused'; readonly why: string };

/**
 * Calls a client's notification endpoint with the token that the client has given. Never rejects.
 * Redirects are not followed, because the token is for the configured address alone.
 *
 * The library's `backchannelPing` gives up after 2.5 seconds, tries once, and refuses addresses of
 * private networks, where many clients of an operator are. Our address comes from the
 * configuration.
 *
 * Source: OpenID Connect CIBA section 10.2.
 */
export const notify = async (
  endpoint: string,
  { token, authReqId }: { readonly token: string; readonly authReqId: string },
  signal: AbortSignal,
): Promise<Notified> => {
  try {
    const { body, ok, status } = await fetch(endpoint, {
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ auth_req_id: authReqId }),
      signal,
    });
    await body?.cancel();
    return ok
      ? { kind: 'told' }
      : { kind: status >= 500 ? 'failed' : 'refused', why: `status ${status}` };
  } catch (error) {
    // The message may quote the request; the name of the error does not.
    return { kind: 'failed', why: error instanceof Error ? error.name : 'unknown' };
  }
};

const hasPings = ({ clients }: Tenant): boolean =>
  [...clients.values()].some((client) => notificationEndpointOf(client) !== undefined);

export const createPings = (
  { tenants, logins, now, log }: Pick<OauthDeps, 'tenants' | 'logins' | 'now' | 'log'>,
  settle: Settle,
  work: PingWorkOptions,
) => {
  const find = async (tenant: Tenant, reference: string) => {
    const records = createBackchannelRecords(tenant.store, now);
    const ping = await records.readPing(reference);
    const login = ping && (await records.readLogin(ping.authReqId));
    return ping && login && { authReqId: ping.authReqId, login };
  };

  const untilSettled = async (
    { tenantId, reference }: PingLogin,
    stop: AbortSignal,
  ): Promise<boolean | undefined> => {
    const tenant = tenants.find(tenantId);
    // Processes with a later configuration may know this tenant.
    if (tenant === undefined) return undefined;
    const found = await find(tenant, reference);
    if (found === undefined) return false;
    const { started } = found.login;
    if (started !== undefined) {
      await logins.ended(
        started.msspTransId,
        Math.max(started.deadline, now()) + endMarginMs,
        stop,
      );
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
    // Expired, or the client has its tokens. A second poll would look like theft and revoke them.
    if (request === undefined || request.consumed) return 'unwanted';
    const endpoint = notificationEndpointOf(tenant.clients.get(login.clientId));
    const token = request.params?.client_notification_token;
    if (endpoint === undefined || typeof token !== 'string') return 'unwanted';
    const signal = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
    const notified = await notify(endpoint, { token, authReqId }, signal);
    if (notified.kind === 'told') return 'told';
    if ((notified.kind === 'refused' || isLast) && !stop.aborted) {
      log.trouble(new Error(`client ${login.clientId} could not be notified: ${notified.why}`));
    }
    return notified.kind === 'refused' ? 'unwanted' : 'failed';
  };

  const { add, start, close } = createPingWork({ untilSettled, ping }, work);
  return {
    /** Begins to wait for logins. Safe to call again. */
    start: (): void => {
      // A worker costs a connection, and most services have no such client.
      if (tenants.all.some(hasPings)) start();
    },
    /** Leaves open pings to other processes. Safe to call again. */
    close,
    /** Stores that the client is to be notified when the login ends. */
    expect: async (tenant: Tenant, authReqId: string, login: BackchannelLogin): Promise<void> => {
      await createBackchannelRecords(tenant.store, now).putPing(login, authReqId);
      const { reference, expiresAt } = login;
      await add({ tenantId: tenant.id, reference, lifetimeMs: Math.max(expiresAt - now(), 0) });
    },
  };
};

export type Pings = ReturnType<typeof createPings>;
