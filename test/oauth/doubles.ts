/** Parts of the provider for tests that need only one of the others. */

import { createSealing } from '../../packages/pki/src/sealed-json.ts';
import type { Limits } from '../../src/oauth/limits.ts';
import { createSealedStore, type SealedStore } from '../../src/redis/sealed-store.ts';
import type { TestRedis } from '../support/redis.ts';

export const sealedStoreOf = (redis: TestRedis, tenant = 'main'): SealedStore =>
  createSealedStore({
    redis: redis.client(),
    base: `${redis.prefix}:oidc:${tenant}`,
    sealing: createSealing(Buffer.alloc(32, 7), `oidc ${tenant}`),
  });

/** Nothing is limited. */
export const noLimits: Limits = {
  pushWait: async () => 0,
  promptWait: async () => 0,
  guessWait: async () => 0,
  loginWait: async () => 0,
  noteFailure: () => undefined,
  shutOutWait: () => 0,
  barredWait: () => 0,
};
