/**
 * The library's hooks for `POST {issuer}/backchannel`, in the order in which it calls them: context, binding message, hint,
 * and then the phone.
 *
 * Source: OpenID Connect CIBA section 7.
 */
import type { IncomingMessage } from 'node:http';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { OauthClient } from '../../registry/oauth-client.ts';
import type { Source } from '../../registry/rate-limiter.ts';
import type { SubscriberRegistry } from '../../registry/subscriber.ts';
import type { Limits } from '../limits.ts';
import type { Tenant } from '../tenant.ts';
import type { createBegin } from './begin.ts';
import {
  checkBindingMessage,
  checkHints,
  checkRequestContext,
  readAcrValues,
  readDtbd,
  readNumber,
} from './parameters.ts';
import { refusal, unavailable } from './refusal.ts';

export type BackchannelFeature = NonNullable<NonNullable<Configuration['features']>['ciba']>;

export interface FeatureOptions {
  readonly begin: ReturnType<typeof createBegin>;
  readonly limits: Limits;
  readonly subscribers: SubscriberRegistry;
  readonly addressOf: (incoming: IncomingMessage | undefined) => Source;
}

/** @param tenantOf Called at each request, because the tenant comes to be after its provider's configuration. */
export const createFeature = (
  tenantOf: () => Tenant,
  { begin, limits, subscribers, addressOf }: FeatureOptions,
): BackchannelFeature => {
  const clientOf = (ctx: KoaContextWithOIDC): OauthClient => {
    const client = tenantOf().clients.get(ctx.oidc.client?.clientId ?? '');
    if (client === undefined) throw new Error('The library knows a client that the tenant does not');
    return client;
  };

  const checkParameters = (ctx: KoaContextWithOIDC): void => {
    const params = ctx.oidc.params ?? {};
    const client = clientOf(ctx);
    checkHints(params);
    checkRequestContext(params.request_context);
    readDtbd(params.dtbd, client);
    const acrValues = readAcrValues(params.acr_values, client);
    // What was left out must not come back with the library's record.
    params.acr_values = acrValues.length > 0 ? acrValues.join(' ') : undefined;
  };

  const findAccount = async (ctx: KoaContextWithOIDC, hint: string): Promise<string> => {
    const client = clientOf(ctx);
    if (!(await limits.mayPush(tenantOf(), client.id, addressOf(ctx.req)))) {
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
    enabled: true,
    deliveryModes: ['poll', 'ping'],
    validateRequestContext: async (ctx) => checkParameters(ctx),
    validateBindingMessage: async (_ctx, message) => checkBindingMessage(message),
    processLoginHint: (ctx, hint) =>
      hint === undefined ? Promise.resolve(undefined) : findAccount(ctx, hint),
    processLoginHintToken: async () => undefined,
    verifyUserCode: async () => undefined,
    triggerAuthenticationDevice: async (ctx, request, account, client) => {
      await begin(ctx, tenantOf(), request, { clientId: client.clientId, msisdn: account.accountId });
    },
  };
};
