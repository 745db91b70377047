/**
 * Logins without a browser (OpenID Connect CIBA), in poll and ping mode. The endpoint belongs to
 * the library. This room decides what a phone is asked, when a request has its result and who is
 * told.
 *
 * Source: OpenID Connect CIBA sections 7 and 11.
 */
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { RedisClient } from '../../redis/connect.ts';
import type { OauthClient } from '../../registry/oauth-client.ts';
import type { Backchannel, OauthDeps } from '../deps.ts';
import { errors } from '../library.ts';
import type { Tenant } from '../tenant.ts';
import { createBegin, pollEverySeconds } from './begin.ts';
import {
  checkBindingMessage,
  checkParameters,
  readNumber,
  refusal,
  unavailable,
} from './parameters.ts';
import { createPings } from './pings.ts';
import { createSettlement } from './settlement.ts';

export interface BackchannelOptions
  extends Pick<
    OauthDeps,
    | 'tenants'
    | 'settings'
    | 'logins'
    | 'limits'
    | 'subscribers'
    | 'addressOf'
    | 'fetch'
    | 'now'
    | 'log'
  > {
  readonly redis: RedisClient;
  /** For workers. */
  readonly blocking: RedisClient;
  readonly prefix: string;
}

/** A client that keeps to the interval may arrive a little early, because network delays differ. */
const toleranceMs = 500;

export const createBackchannel = (options: BackchannelOptions): Backchannel => {
  const { limits, subscribers, redis, blocking, prefix, addressOf, log } = options;
  const settle = createSettlement(options);
  const pings = createPings(options, settle, {
    commands: redis,
    blocking,
    prefix,
    onError: log.trouble,
  });
  const begin = createBegin({ ...options, pings });

  /**
   * The library does not count how often a client asks. @returns False when it asked too recently.
   */
  const mayAsk = async ({ store }: Tenant, authReqId: string): Promise<boolean> => {
    const key = store.keyOf('polled', authReqId);
    return (await redis.set(key, 1, 'PX', pollEverySeconds * 1000 - toleranceMs, 'NX')) === 'OK';
  };

  const findClient = ({ clients }: Tenant, ctx: KoaContextWithOIDC): OauthClient => {
    const client = clients.get(ctx.oidc.client?.clientId ?? '');
    if (client === undefined)
      throw new Error('The library knows a client that the tenant does not');
    return client;
  };

  const findAccount = async (
    tenant: Tenant,
    ctx: KoaContextWithOIDC,
    hint: string,
  ): Promise<string> => {
    const client = findClient(tenant, ctx);
    const seconds = await limits.pushWait(tenant, client.id, addressOf(ctx.req));
    if (seconds > 0) {
      ctx.set('retry-after', String(seconds));
      throw unavailable(429, 'too many requests');
    }
    if (!client.loginHintAllowed) {
      const text = 'login_hint is not allowed for this client';
      throw refusal('unauthorized_client', 'parameterNotAllowed', text);
    }
    const msisdn = readNumber(hint);
    if ((await subscribers.find(msisdn)) !== undefined) return msisdn;
    throw refusal('unknown_user_id', 'noMethod', 'the user is unknown');
  };

  return {
    /** For `features.ciba` of a tenant's provider. The hooks stand in the order of their calls. */
    featureFor: (tenant) => ({
      enabled: true,
      deliveryModes: ['poll', 'ping'],
      validateRequestContext: async (ctx) =>
        checkParameters(ctx.oidc.params ?? {}, findClient(tenant, ctx)),
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
      const [settled, inTime] = await Promise.all([
        settle(tenant, authReqId),
        mayAsk(tenant, authReqId),
      ]);
      if (!settled && !inTime) throw new errors.SlowDown();
    },
    start: pings.start,
    close: pings.close,
  };
};
