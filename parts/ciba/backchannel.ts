/**
 * Logins without a browser (OpenID Connect CIBA), in poll and ping mode. The endpoint belongs to
 * the library. This part decides what a phone is asked, when a request has its result and who is
 * told.
 *
 * Source: OpenID Connect CIBA sections 7 and 11.
 */
import type { KoaContextWithOIDC, Provider as Library } from 'oidc-provider';
import type { ExtendOauth, OauthExtension, TenantExtension } from '../../src/oauth/extension.ts';
import { errors, Provider } from '../../src/oauth/library.ts';
import type { Tenant } from '../../src/oauth/tenant.ts';
import type { OauthRooms } from '../../src/part/rooms.ts';
import type { OauthClient } from '../../src/registry/oauth-client.ts';
import { createBegin, pollEverySeconds } from './begin.ts';
import { describeClient } from './client-metadata.ts';
import {
  checkBindingMessage,
  checkParameters,
  readNumber,
  refusal,
  unavailable,
} from './parameters.ts';
import { createPings } from './pings.ts';
import { createSettlement } from './settlement.ts';

/** A client that keeps to the interval may arrive a little early, because network delays differ. */
const toleranceMs = 500;

/** A late poll is told that the request has expired. */
const keptSeconds = 60;

/** Parallel polls of one client are all answered within this time. */
const parallelSeconds = 10;

/** What the library promises and nothing here checks. */
const promiseLess = (provider: Library): void => {
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.oidc?.route !== 'discovery' || typeof ctx.body !== 'object') return;
    const document = ctx.body as Record<string, unknown>;
    if ('backchannel_user_code_parameter_supported' in document) {
      document.backchannel_user_code_parameter_supported = false;
    }
  });
};

export const createBackchannel = (
  { redis, blocking, prefix }: Pick<OauthRooms, 'redis' | 'blocking' | 'prefix'>,
  deps: Parameters<ExtendOauth>[0],
): OauthExtension => {
  const { limits, subscribers, addressOf, log } = deps;
  const maxSeconds = deps.settings.interactionSeconds;
  const settle = createSettlement(deps);
  const pings = createPings(deps, settle, {
    commands: redis,
    blocking,
    prefix,
    onError: log.trouble,
  });
  const begin = createBegin({ ...deps, pings });

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

  /** Requests that settling itself reads. */
  const settling = new Set<string>();

  /**
   * A client asks for the result of a request: gives it one if the login has ended.
   *
   * @returns Whether the request has changed.
   * @throws SlowDown when the login is open and the client asks too often.
   */
  const settleAtPoll = async (tenant: Tenant, id: string, payload: object): Promise<boolean> => {
    const isPoll = Provider.ctx?.oidc?.route === 'token';
    if (!isPoll || 'grantId' in payload || 'error' in payload || settling.has(id)) return false;
    settling.add(id);
    try {
      const [settled, inTime] = await Promise.all([settle(tenant, id), mayAsk(tenant, id)]);
      if (!settled && !inTime) throw new errors.SlowDown();
      return true;
    } finally {
      settling.delete(id);
    }
  };

  /** The hooks stand in the order of their calls. */
  const featureOf = (tenant: Tenant): NonNullable<TenantExtension['features']['ciba']> => ({
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
  });

  return {
    describe: describeClient,
    forTenant: (tenant) => ({
      features: { ciba: featureOf(tenant) },
      routes: { backchannel_authentication: '/backchannel' },
      ttl: {
        BackchannelAuthenticationRequest: (ctx) =>
          Math.min(maxSeconds, Number(ctx?.oidc?.params?.requested_expiry ?? maxSeconds)),
      },
      records: {
        BackchannelAuthenticationRequest: {
          endsWithGrant: true,
          usedOnce: true,
          keptSeconds,
          useHiddenSeconds: parallelSeconds,
          onFound: (id, payload) => settleAtPoll(tenant, id, payload),
        },
      },
      refusalEvents: ['backchannel_authentication.error'],
      prepare: promiseLess,
    }),
    start: pings.start,
    close: pings.close,
  };
};
