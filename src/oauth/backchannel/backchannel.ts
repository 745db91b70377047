/**
 * Logins without a browser (OpenID Connect CIBA), in poll and ping mode. The endpoint is the library's; what a phone is asked,
 * when a request is settled and who is told is decided here.
 *
 * Source: OpenID Connect CIBA sections 7 and 11.
 */
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { RedisClient } from '../../redis/connect.ts';
import type { OauthClient } from '../../registry/oauth-client.ts';
import type { OauthDeps } from '../deps.ts';
import { errors } from '../library.ts';
import type { Tenant } from '../tenant.ts';
import { createBegin, pollEverySeconds } from './begin.ts';
import { checkBindingMessage, checkParameters, readNumber, refusal, unavailable } from './parameters.ts';
import { createPings } from './pings.ts';
import { createSettlement } from './settlement.ts';

type BackchannelFeature = NonNullable<NonNullable<Configuration['features']>['ciba']>;

export interface Backchannel {
  /** For `features.ciba` of a tenant's provider. */
  featureFor(tenant: Tenant): BackchannelFeature;
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

export interface BackchannelOptions
  extends Pick<
    OauthDeps,
    'tenants' | 'settings' | 'logins' | 'limits' | 'subscribers' | 'addressOf' | 'fetch' | 'now' | 'log'
  > {
  readonly redis: RedisClient;
  /** For workers. */
  readonly blocking: RedisClient;
  readonly prefix: string;
}

/** A client that keeps to the interval arrives a little early at times, because the way here was shorter than the last. */
const toleranceMs = 500;

export const createBackchannel = (options: BackchannelOptions): Backchannel => {
  const { limits, subscribers, redis, blocking, prefix, addressOf, log } = options;
  const settle = createSettlement(options);
  const work = { commands: redis, blocking, prefix, onError: log.trouble };
  const pings = createPings(options, settle, work);
  const begin = createBegin({ ...options, pings });

  /** The library does not count how often a client asks. @returns False when the last time was too recent. */
  const mayAsk = async ({ id, store }: Tenant, authReqId: string): Promise<boolean> => {
    const key = `${prefix}:oidc:${id}:polled:{${store.hashOf(authReqId)}}`;
    return (await redis.set(key, 1, 'PX', pollEverySeconds * 1000 - toleranceMs, 'NX')) === 'OK';
  };

  const clientOf = ({ clients }: Tenant, ctx: KoaContextWithOIDC): OauthClient => {
    const client = clients.get(ctx.oidc.client?.clientId ?? '');
    if (client === undefined) throw new Error('The library knows a client that the tenant does not');
    return client;
  };

  const findAccount = async (tenant: Tenant, ctx: KoaContextWithOIDC, hint: string): Promise<string> => {
    const client = clientOf(tenant, ctx);
    if (!(await limits.mayPush(tenant, client.id, addressOf(ctx.req)))) {
      ctx.set('retry-after', String(limits.retryAfterSeconds));
      throw unavailable(429, 'too many requests');
    }
    if (!client.loginHintAllowed) {
      throw refusal(
        'unauthorized_client',
        'parameterNotAllowed',
        'login_hint is not allowed for this client',
      );
    }
    const msisdn = readNumber(hint);
    if (subscribers.find(msisdn) === undefined) {
      throw refusal('unknown_user_id', 'noMethod', 'the user is unknown');
    }
    return msisdn;
  };

  return {
    // The hooks stand in the order in which the library calls them.
    featureFor: (tenant) => ({
      enabled: true,
      deliveryModes: ['poll', 'ping'],
      validateRequestContext: async (ctx) => checkParameters(ctx.oidc.params ?? {}, clientOf(tenant, ctx)),
      validateBindingMessage: async (_ctx, message) => checkBindingMessage(message),
      processLoginHint: async (ctx, hint) =>
        hint === undefined ? undefined : findAccount(tenant, ctx, hint),
      processLoginHintToken: async () => undefined,
      verifyUserCode: async () => undefined,
      triggerAuthenticationDevice: async (ctx, request, account, client) => {
        await begin(ctx, tenant, request, { clientId: client.clientId, msisdn: account.accountId });
      },
    }),
    settle: async (tenant, authReqId) => {
      const [settled, inTime] = await Promise.all([settle(tenant, authReqId), mayAsk(tenant, authReqId)]);
      // Only a request that is still open is answered so: a result is never held back.
      if (!settled && !inTime) throw new errors.SlowDown();
    },
    start: pings.start,
    close: pings.close,
  };
};
