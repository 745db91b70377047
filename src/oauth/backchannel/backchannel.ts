/**
 * Logins without a browser (OpenID Connect CIBA), in poll and ping mode. The endpoint is the library's; what a phone is asked,
 * when a request is settled and who is told is decided here.
 */
import type { IncomingMessage } from 'node:http';
import type { RedisClient } from '../../redis/connect.ts';
import type { OauthSettings } from '../../registry/oauth-client.ts';
import type { Source } from '../../registry/rate-limiter.ts';
import type { SubscriberRegistry } from '../../registry/subscriber.ts';
import { errors } from '../library.ts';
import type { Limits } from '../limits.ts';
import type { OauthLog } from '../log.ts';
import type { Logins } from '../logins.ts';
import type { Tenant, Tenants } from '../tenant.ts';
import { createBegin } from './begin.ts';
import { type BackchannelFeature, createFeature } from './feature.ts';
import { createPings } from './pings.ts';
import { createPolling } from './polling.ts';
import { createSettlement } from './settlement.ts';

export interface Backchannel {
  /** For `features.ciba` of a tenant's provider. */
  featureFor(tenant: () => Tenant): BackchannelFeature;
  /**
   * Called when a client asks the token endpoint for a request that has no result yet: gives it one if the login has ended.
   *
   * @throws SlowDown when it has not, and the client asks too often; when Redis is unreachable.
   */
  settle(tenant: Tenant, authReqId: string): Promise<void>;
  /** Begins to wait for the logins of clients in ping mode. Safe to call again. */
  start(): void;
  /** Leaves open pings to others. Safe to call again. */
  close(): Promise<void>;
}

export interface BackchannelOptions {
  readonly tenants: Tenants;
  readonly logins: Logins;
  readonly limits: Limits;
  readonly settings: Pick<OauthSettings, 'promptSeconds' | 'refreshTokenSeconds'>;
  readonly subscribers: SubscriberRegistry;
  readonly redis: RedisClient;
  readonly blocking: RedisClient;
  readonly prefix: string;
  readonly addressOf: (incoming: IncomingMessage | undefined) => Source;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  readonly log: OauthLog;
}

export const createBackchannel = (options: BackchannelOptions): Backchannel => {
  const { tenants, logins, limits, settings, redis, blocking, prefix, now, log } = options;
  const settlement = createSettlement({
    logins,
    evidenceSeconds: settings.refreshTokenSeconds,
    now,
    log,
  });
  const pings = createPings({
    work: { commands: redis, blocking, prefix, onError: log.trouble },
    tenants,
    logins,
    settlement,
    fetch: options.fetch,
    now,
    log,
  });
  const polling = createPolling(redis, prefix);
  const begin = createBegin({ logins, limits, pings, settings, subscribers: options.subscribers, now, log });
  return {
    featureFor: (tenant) => createFeature(tenant, { ...options, begin }),
    settle: async (tenant, authReqId) => {
      const [settled, mayAsk] = await Promise.all([
        settlement.settle(tenant, authReqId),
        polling.mayAsk(tenant, authReqId),
      ]);
      if (!settled && !mayAsk) throw new errors.SlowDown();
    },
    start: pings.start,
    close: pings.close,
  };
};
