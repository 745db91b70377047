/**
 * Keeps the library's models in the tenant's sealed store. One-time use is atomic here: the library
 * reads a code and consumes it later, so parallel requests all find it unused; the second call of
 * `consume` throws.
 */
import type { Adapter, AdapterPayload } from 'oidc-provider';
import type { SealedStore } from '../redis/sealed-store.ts';
import { errors } from './library.ts';

/** Models that end with their grant. */
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

/** Parallel polls of one client are all answered within this time. */
const parallelSeconds = 10;

const usedUp = (model: string): Error =>
  model === 'PushedAuthorizationRequest'
    ? new errors.InvalidRequestUri('request_uri is invalid, expired, or was already used')
    : new errors.InvalidGrant('it was already used');

export interface AdapterOptions {
  readonly store: SealedStore;
  /** A pushed request is kept for this long, so that a second login with it finds it used. */
  readonly interactionSeconds: number;
  /** Called when a backchannel request is read, which is when a client polls. */
  readonly onBackchannelLookup: (id: string, payload: AdapterPayload) => Promise<boolean>;
  /** Logins before then no longer count; milliseconds since the epoch. */
  readonly endedBefore: (clientId: string, account?: string) => number;
  readonly now: () => number;
}

export const createAdapter =
  ({ store, interactionSeconds, onBackchannelLookup, endedBefore, now }: AdapterOptions) =>
  (model: string): Adapter => {
    const nowSeconds = (): number => Math.floor(now() / 1000);

    const keepSecondsOf = (expiresIn: number): number => {
      if (model === 'PushedAuthorizationRequest') return expiresIn + interactionSeconds;
      // A late poll is told that the request has expired.
      return model === 'BackchannelAuthenticationRequest' ? expiresIn + 60 : expiresIn;
    };

    /**
     * On a used request the library revokes the tokens. Of parallel polls the loser would revoke
     * the winner's tokens, so a use is reported only after some seconds.
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
        // Known clients are in the configuration.
        if (model === 'Client') return undefined;
        const payload = await read(id);
        // Codes and tokens need their grant, and a grant keeps the time of its login.
        const ended = () => endedBefore(payload?.clientId ?? '', payload?.accountId);
        if (model === 'Grant' && (payload?.iat ?? 0) * 1000 < ended()) return undefined;
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
        if (!(await store.useOnce(model, id, nowSeconds()))) throw usedUp(model);
      },
      destroy: async (id) => {
        // The library destroys an interaction when it continues from it: once, also for two tabs.
        if (model !== 'Interaction') return store.remove(model, id);
        if (!(await store.removeOnce(model, id, nowSeconds(), interactionSeconds))) {
          throw new errors.SessionNotFound('interaction session not found');
        }
      },
      revokeByGrantId: (grantId) => store.removeGroup(grantId),
    };
  };
