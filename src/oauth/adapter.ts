/**
 * Keeps the library's models in the tenant's sealed store. One-time use is atomic here: the library
 * reads a code and consumes it later, so parallel requests all find it unused; the second call of
 * `consume` throws.
 */
import type { Adapter, AdapterPayload } from 'oidc-provider';
import type { SealedStore } from '../redis/sealed-store.ts';
import type { RecordRules } from './extension.ts';
import { errors } from './library.ts';

const usedUp = (model: string): Error =>
  model === 'PushedAuthorizationRequest'
    ? new errors.InvalidRequestUri('request_uri is invalid, expired, or was already used')
    : new errors.InvalidGrant('it was already used');

export interface AdapterOptions {
  readonly store: SealedStore;
  /** A pushed request is kept for this long, so that a second login with it finds it used. */
  readonly interactionSeconds: number;
  /** The rules for the records of extensions, by the library's name of the kind. */
  readonly records: Readonly<Record<string, RecordRules>>;
  /** Logins before then no longer count; milliseconds since the epoch. */
  readonly endedBefore: (clientId: string, account?: string) => number;
  readonly now: () => number;
}

/** The rules for records, by kind. Other kinds may be used again, and do not end with a grant. */
const rulesFor = ({
  interactionSeconds,
  records,
}: Pick<AdapterOptions, 'interactionSeconds' | 'records'>): AdapterOptions['records'] => ({
  AccessToken: { endsWithGrant: true },
  AuthorizationCode: { endsWithGrant: true, usedOnce: true },
  RefreshToken: { endsWithGrant: true, usedOnce: true },
  PushedAuthorizationRequest: { usedOnce: true, keptSeconds: interactionSeconds },
  ...records,
});

export const createAdapter =
  ({ store, interactionSeconds, records, endedBefore, now }: AdapterOptions) =>
  (model: string): Adapter => {
    const rules = rulesFor({ interactionSeconds, records })[model] ?? {};
    const { keptSeconds = 0, useHiddenSeconds } = rules;
    const nowSeconds = (): number => Math.floor(now() / 1000);
    const isTold = (usedAt: number): boolean =>
      useHiddenSeconds === undefined || nowSeconds() - usedAt >= useHiddenSeconds;

    const read = async (id: string): Promise<AdapterPayload | undefined> => {
      if (!rules.usedOnce) return (await store.get(model, id)) as AdapterPayload | undefined;
      const { value, usedAt } = await store.getWithUse(model, id);
      if (value === undefined) return undefined;
      return {
        ...(value as AdapterPayload),
        ...(usedAt !== undefined && isTold(usedAt) && { consumed: usedAt }),
      };
    };

    return {
      upsert: async (id, payload, expiresIn) => {
        const ttl = (expiresIn ?? (payload.exp ?? 0) - nowSeconds()) + keptSeconds;
        const { grantId, uid } = payload;
        await Promise.all([
          store.put(model, id, payload, ttl),
          model === 'Session' && uid !== undefined && store.put('session-uid', uid, id, ttl),
          rules.endsWithGrant && grantId !== undefined && store.join(grantId, model, id, ttl),
        ]);
      },
      find: async (id) => {
        // Known clients are in the configuration.
        if (model === 'Client') return undefined;
        const payload = await read(id);
        // Codes and tokens need their grant, and a grant keeps the time of its login.
        const ended = () => endedBefore(payload?.clientId ?? '', payload?.accountId);
        if (model === 'Grant' && (payload?.iat ?? 0) * 1000 < ended()) return undefined;
        if (payload === undefined) return undefined;
        return (await rules.onFound?.(id, payload)) ? read(id) : payload;
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
