/**
 * Tells clients in ping mode that a login has ended. What happens when is up to a chart (machines/ping.machine.ts), whose instances
 * outlive this process; here is what is done for it.
 */
import type { PingLogin, PingResult, PingTry } from '../../../machines/ping.machine.ts';
import type { OauthLog } from '../log.ts';
import type { Logins } from '../logins.ts';
import type { Tenant, Tenants } from '../tenant.ts';
import { notify } from './notify.ts';
import { createPingWork, type PingWorkOptions } from './ping.worker.ts';
import { type BackchannelLogin, createBackchannelRecords } from './records.ts';
import type { Settlement } from './settlement.ts';

export interface Pings {
  /** From now on the client will be told when the login ends. */
  expect(tenant: Tenant, authReqId: string, login: BackchannelLogin): Promise<void>;
  /** Begins to wait for logins. Safe to call again. */
  start(): void;
  /** Leaves what is open to others. Safe to call again. */
  close(): Promise<void>;
}

export interface PingsOptions {
  readonly work: PingWorkOptions;
  readonly tenants: Tenants;
  readonly logins: Logins;
  readonly settlement: Settlement;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  readonly log: OauthLog;
}

/** After the deadline a transaction takes a moment to end. */
const endMarginMs = 5000;
/** One call to a client's endpoint. */
const timeoutMs = 5000;

const hasPings = ({ clients }: Tenant): boolean =>
  [...clients.values()].some(({ backchannel }) => backchannel?.delivery === 'ping');

export const createPings = (options: PingsOptions): Pings => {
  const { tenants, logins, settlement, fetch, now, log } = options;

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
    return (!stop.aborted && (await settlement.settle(tenant, found.authReqId))) || undefined;
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
    const notification = { endpoint: backchannel.notificationEndpoint, token, authReqId };
    const notified = await notify(notification, { fetch, signal });
    if (notified.kind === 'told') return 'told';
    const isOver = notified.kind === 'refused' || isLast;
    if (isOver && !stop.aborted) {
      log.trouble(new Error(`client ${login.clientId} could not be notified: ${notified.why}`));
    }
    return notified.kind === 'refused' ? 'unwanted' : 'failed';
  };

  const { add, start, close } = createPingWork({ untilSettled, ping }, options.work);
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
