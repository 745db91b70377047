/** What is left of a backchannel request that breaks after the phone was asked. */
import { randomBytes } from 'node:crypto';
import type { BackchannelAuthenticationRequest, KoaContextWithOIDC } from 'oidc-provider';
import { expect, it } from 'vitest';
import type { Tenant } from '../../../src/oauth/tenant.ts';
import type { SealedStore } from '../../../src/redis/sealed-store.ts';
import { noLimits, sealedStoreOf } from '../../../test/oauth/doubles.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { createBegin } from '../begin.ts';

const redis = testRedis();
const who = { clientId: 'till', msisdn: '41790000001' };

/** @param breaks Which of the writes of the login fails; 0 for none. */
const stage = (breaks: number, { kind = 'poll', cancelFails = false } = {}) => {
  const done: string[] = [];
  const sealed = sealedStoreOf(redis);
  let writes = 0;
  const store: SealedStore = {
    ...sealed,
    put: async (...parameters) => {
      writes += 1;
      if (writes === breaks) throw new Error('Redis is away');
      await sealed.put(...parameters);
    },
  };
  const begin = createBegin({
    logins: {
      start: async () => {
        done.push('started');
        return { kind: 'started', msspTransId: 'H1', deadline: 60_000, text: 'Log in?' };
      },
      look: async () => ({ kind: 'open' }),
      ended: async () => undefined,
      cancel: async (msspTransId) => {
        done.push(`cancelled ${msspTransId}`);
        if (cancelFails) throw new Error('Redis is still away');
      },
    },
    limits: noLimits,
    pings: {
      expect: async () => {
        throw new Error('Redis has gone');
      },
    },
    settings: { promptSeconds: 60 },
    subscribers: { find: () => undefined, isTestNumber: () => false },
    now: () => 0,
    log: {
      audit: ({ event }) => void done.push(event),
      trouble: ({ message }) => void done.push(message),
    },
  });
  const tenant = {
    id: 'main',
    store,
    clients: new Map([
      [
        who.clientId,
        { id: who.clientId, backchannel: { kind, notificationEndpoint: 'http://localhost/ping' } },
      ],
    ]),
  } as unknown as Tenant;
  const request = {
    jti: randomBytes(16).toString('base64url'),
    params: {},
    scopes: new Set(['openid']),
    expiration: 60,
    destroy: async () => void done.push('destroyed'),
  } as unknown as BackchannelAuthenticationRequest;
  const ctx = { body: {}, set: () => undefined } as unknown as KoaContextWithOIDC;
  return { done, run: () => begin(ctx, tenant, request, who) };
};

it('a request that breaks after the phone was asked takes the prompt back', async () => {
  const { done, run } = stage(2);
  await expect(run()).rejects.toThrow('Redis is away');
  expect(done).toEqual(['started', 'cancelled H1', 'destroyed']);
});

it('the same goes for one whose client could not be pinged', async () => {
  const { done, run } = stage(0, { kind: 'ping' });
  await expect(run()).rejects.toThrow('Redis has gone');
  expect(done).toEqual(['started', 'cancelled H1', 'destroyed']);
});

it('the first failure is told when the prompt cannot be taken back', async () => {
  const { done, run } = stage(2, { cancelFails: true });
  await expect(run()).rejects.toThrow('Redis is away');
  expect(done).toEqual(['started', 'cancelled H1', 'Redis is still away', 'destroyed']);
});

it('a request that is kept takes nothing back, and one that asked nobody has nothing to take back', async () => {
  const kept = stage(0);
  await kept.run();
  expect(kept.done).toEqual(['started', 'login begun']);
  const early = stage(1);
  await expect(early.run()).rejects.toThrow('Redis is away');
  expect(early.done).toEqual(['destroyed']);
});
