/**
 * Where the library keeps its models: in the tenant's sealed store.
 *
 * One-time use is atomic here. The library looks a code up and then consumes it, so of several requests at the same time all
 * find it unused; whoever comes second to `consume` is thrown out.
 */
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { errors } from './library.ts';
import type { SealedStore } from './sealed-store.ts';

/** What belongs to a grant and ends with it. */
const grantable = new Set([
  'AccessToken',
  'AuthorizationCode',
  'RefreshToken',
  'BackchannelAuthenticationRequest',
]);

const usable = new Set([
  'AuthorizationCode',
  'RefreshToken',
  'BackchannelAuthenticationRequest',
  'PushedAuthorizationRequest',
]);

/** Polls that began at the same time have all been answered by then. */
const parallelSeconds = 10;

const usedUp = (model: string): Error =>
  model === 'PushedAuthorizationRequest'
    ? new errors.InvalidRequestUri('request_uri is invalid, expired, or was already used')
    : new errors.InvalidGrant('it was already used');

export interface AdapterOptions {
  readonly store: SealedStore;
  /**
   * A pushed request is remembered for as long as a login that began with it may take, so that a second login that began with
   * it as well finds it used.
   */
  readonly interactionSeconds: number;
  /** Called when a backchannel request is looked up, which is when somebody asks what has become of it. */
  readonly onBackchannelLookup: (id: string, payload: AdapterPayload) => Promise<boolean>;
  readonly now: () => number;
}

export const createAdapter =
  ({ store, interactionSeconds, onBackchannelLookup, now }: AdapterOptions) =>
  (model: string): Adapter => {
    const nowSeconds = (): number => Math.floor(now() / 1000);

    const keepSecondsOf = (expiresIn: number): number => {
      if (model === 'PushedAuthorizationRequest') return expiresIn + interactionSeconds;
      // Who asks too late is told that it has expired.
      return model === 'BackchannelAuthenticationRequest' ? expiresIn + 60 : expiresIn;
    };

    /**
     * To a request that was used before the library revokes what came of it. Of parallel polls, which clients make, the loser
     * would take the winner's tokens away before it has them.
     */
    const isTold = (usedAt: number): boolean =>
      model !== 'BackchannelAuthenticationRequest' || nowSeconds() - usedAt >= parallelSeconds;

    const read = async (id: string): Promise<AdapterPayload | undefined> => {
      if (!usable.has(model)) return (await store.get(model, id)) as AdapterPayload | undefined;
      const { value, usedAt } = await store.getWithUse(model, id);
      if (value === undefined) return undefined;
      return {
        ...(value as AdapterPayload),
        ...(usedAt !== undefined && isTold(usedAt) && { consumed: usedAt }),
      };
    };

    return {
      upsert: async (id, payload, expiresIn) => {
        const ttl = keepSecondsOf(expiresIn ?? (payload.exp ?? 0) - nowSeconds());
        const { grantId, uid } = payload;
        await Promise.all([
          store.put(model, id, payload, ttl),
          model === 'Session' && uid !== undefined && store.put('session-uid', uid, id, ttl),
          grantable.has(model) && grantId !== undefined && store.join(grantId, model, id, ttl),
        ]);
      },
      find: async (id) => {
        // Clients are in the configuration: whoever is asked for here is unknown.
        if (model === 'Client') return undefined;
        const payload = await read(id);
        if (model !== 'BackchannelAuthenticationRequest' || payload === undefined) return payload;
        return (await onBackchannelLookup(id, payload)) ? read(id) : payload;
      },
      findByUid: async (uid) => {
        const id = await store.get('session-uid', uid);
        return typeof id === 'string' ? read(id) : undefined;
      },
      // Only the device flow has user codes, and it is off.
      findByUserCode: async () => undefined,
      consume: async (id) => {
        const payload = (await store.get(model, id)) as AdapterPayload | undefined;
        const left = keepSecondsOf((payload?.exp ?? 0) - nowSeconds());
        if (payload === undefined || !(await store.use(model, id, nowSeconds(), left))) throw usedUp(model);
      },
      destroy: async (id) => {
        // The library ends an interaction when it goes on from it: once, also for two tabs that come back together.
        if (model === 'Interaction' && !(await store.use(model, id, nowSeconds(), interactionSeconds))) {
          throw new errors.SessionNotFound('interaction session not found');
        }
        await store.remove(model, id);
      },
      revokeByGrantId: (grantId) => store.removeGroup(grantId),
    };
  };
