/**
 * Tells clients in ping mode that a login has ended, also when the process that began it is no more.
 *
 * The process that takes a request waits for its end. Every few seconds each process renews what it waits for and takes what
 * nobody waits for any more (`ping-queue.ts`). A login leaves the queue when its client has been told, when telling has
 * failed for good, or when the request has expired.
 */
import { AsyncResource } from 'node:async_hooks';
import type { OauthLog } from '../log.ts';
import type { Logins } from '../logins.ts';
import type { Tenant, Tenants } from '../tenant.ts';
import type { Notified, Ping } from './notify.ts';
import type { PingMember, PingQueue } from './ping-queue.ts';
import { type BackchannelLogin, createBackchannelRecords } from './records.ts';
import type { Settlement } from './settlement.ts';

export interface Pings {
  /** From now on the client will be told when the login ends. */
  expect(tenant: Tenant, authReqId: string, login: BackchannelLogin): Promise<void>;
  /** Begins to look for what others have left behind. Safe to call again. */
  start(): void;
  /** Leaves what is open to others. Safe to call again. */
  close(): Promise<void>;
}

export interface PingsOptions {
  readonly queue: PingQueue;
  readonly tenants: Tenants;
  readonly logins: Logins;
  readonly settlement: Settlement;
  readonly notify: (ping: Ping, gone: AbortSignal) => Promise<Notified>;
  /** Well below the time for which the queue holds a member. */
  readonly lookEveryMs: number;
  readonly now: () => number;
  readonly log: OauthLog;
}

const mostAtOnce = 100;
/** After the deadline a transaction takes a moment to end. */
const endMarginMs = 5000;

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error('unknown'));

export const createPings = (options: PingsOptions): Pings => {
  const { queue, tenants, logins, settlement, notify, lookEveryMs, now, log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const held = new Map<PingMember, Promise<void>>();
  // What is begun here lives longer than the request in which it began, and must not keep the library's context of it.
  const outside = new AsyncResource('paraph pings');

  /** @returns False when another process must do it. */
  const tell = async (tenant: Tenant, authReqId: string, clientId: string): Promise<boolean> => {
    const provider = await tenant.provider();
    const request = await provider.BackchannelAuthenticationRequest.find(authReqId);
    // Expired; or the client has its tokens already, and asking again would look like theft to the library and revoke them.
    if (request === undefined || request.consumed) return true;
    const backchannel = tenant.clients.get(clientId)?.backchannel;
    const token = request.params?.client_notification_token;
    if (backchannel?.delivery !== 'ping' || typeof token !== 'string') return true;
    const notified = await notify({ endpoint: backchannel.notificationEndpoint, token, authReqId }, signal);
    if (notified.kind === 'failed') {
      log.trouble(new Error(`client ${clientId} could not be notified: ${notified.why}`));
    }
    return notified.kind !== 'stopped';
  };

  /** @returns Whether there is nothing left to do. */
  const bringToEnd = async ({ tenantId, reference, expiresAt }: PingMember): Promise<boolean> => {
    if (now() >= expiresAt) return true;
    const tenant = tenants.find(tenantId);
    // Of a later configuration, perhaps, which other processes have.
    if (tenant === undefined) return false;
    const records = createBackchannelRecords(tenant.store, now);
    const ping = await records.ping(reference);
    const login = ping && (await records.login(ping.authReqId));
    if (ping === undefined || login === undefined) return true;
    if (login.started !== undefined) {
      const { msspTransId, deadline } = login.started;
      await logins.ended(msspTransId, Math.max(deadline, now()) + endMarginMs, signal);
    }
    if (signal.aborted || !(await settlement.settle(tenant, ping.authReqId))) return false;
    return tell(tenant, ping.authReqId, login.clientId);
  };

  const attend = async (member: PingMember): Promise<void> => {
    try {
      if (await bringToEnd(member)) await queue.remove(member);
      else await queue.release([member]);
    } catch (error) {
      // It stays in the queue, and whoever finds it there tries again.
      log.trouble(asError(error));
    } finally {
      held.delete(member);
    }
  };

  const hold = (member: PingMember): void => {
    held.set(
      member,
      outside.runInAsyncScope(() => attend(member)),
    );
  };

  const look = async (): Promise<void> => {
    await queue.renew([...held.keys()]);
    if (signal.aborted) return;
    for (const member of await queue.take(mostAtOnce)) hold(member);
  };

  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  const tick = (): void => {
    looking ??= look()
      .catch((error: unknown) => log.trouble(asError(error)))
      .finally(() => {
        looking = undefined;
      });
  };
  const start = (): void => {
    if (signal.aborted) return;
    timer ??= outside.runInAsyncScope(() => setInterval(tick, lookEveryMs));
  };

  return {
    start,
    expect: async (tenant, authReqId, login) => {
      const { reference, expiresAt } = login;
      const member = { tenantId: tenant.id, reference, expiresAt };
      await createBackchannelRecords(tenant.store, now).putPing(login, { authReqId });
      await queue.add(member);
      start();
      if (!signal.aborted) hold(member);
    },
    close: async () => {
      stopping.abort();
      clearInterval(timer);
      await looking;
      await Promise.all(held.values());
    },
  };
};
