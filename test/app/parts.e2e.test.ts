/**
 * The product in several processes: APIs and workers that share a Redis, a prefix and a master key.
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createKeyCustody } from '../../packages/pki/src/custody.ts';
import { verifySignature } from '../../packages/pki/src/verify.ts';
import { createCustodyStore } from '../../src/app/custody-store.ts';
import { startProduct } from '../../src/app/launch.ts';
import { shardOf } from '../../src/transactions/ids.ts';
import { startTestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest, statusRequest } from '../support/requests.ts';

const redis = testRedis();

describe('the product in parts', () => {
  it('signs with an API in one process and workers in two others, one certificate for the user', async () => {
    const masterKey = randomBytes(32);
    const api = await startTestProduct(redis, { masterKey, serviceKey: 'random', workers: false });
    const workers = [
      await startTestProduct(redis, { masterKey, serviceKey: 'random' }),
      await startTestProduct(redis, { masterKey, serviceKey: 'random' }),
    ];
    try {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => api.post('/rest/service/sign', signRequest())),
      );
      const trust = await api.core.custodyOver(api.core.commands).trust();
      const signers = answers.map(({ body }) => {
        const cms = Buffer.from(body.MSS_SignatureResp.MSS_Signature.Base64Signature, 'base64');
        const verified = verifySignature(cms, 'Sign in to Example?', { trust });
        return verified.ok
          ? Buffer.from(verified.signer.certificate).toString('base64')
          : verified.reason;
      });
      expect(new Set(signers).size).toBe(1);
      expect(signers[0]).toMatch(/^MII/);
    } finally {
      for (const part of [api, ...workers]) await part.stop();
    }
  });

  it('spreads transactions over shards and finds each by its id', async () => {
    const product = await startTestProduct(
      { ...redis, prefix: `${redis.prefix.slice(-20)}-s` },
      { configuration: { queue: { shards: 3 } } },
    );
    try {
      const ids = await Promise.all(
        Array.from({ length: 30 }, async () => {
          const { body } = await product.post('/rest/service/sign', signRequest());
          return body.MSS_SignatureResp.MSSP_TransID as string;
        }),
      );
      expect(new Set(ids.map((id) => shardOf(id, 3)))).toEqual(new Set([0, 1, 2]));
      for (const id of ids) {
        const { body } = await product.post('/rest/service/status', statusRequest(id));
        expect(body.MSS_StatusResp.Status.StatusMessage).toBe('SIGNATURE');
      }
    } finally {
      await product.stop();
    }
  });

  it('creates one key for a user whichever process is first', async () => {
    const store = createCustodyStore(redis.client(), `${redis.prefix}-race`);
    const masterKey = randomBytes(32);
    const owner = {
      msisdn: '41791112233',
      sscdId: 'sim',
      algorithm: 'EC',
      expired: false,
    } as const;
    const keys = await Promise.all(
      Array.from({ length: 5 }, () =>
        createKeyCustody({ store, serviceKey: masterKey, now: Date.now }).userKey(owner),
      ),
    );
    expect(new Set(keys.map(({ chain }) => chain.id)).size).toBe(1);
  });

  it('does not start with another master key than the one its keys were stored under', async () => {
    const right = await startTestProduct(
      { ...redis, prefix: `${redis.prefix.slice(-20)}-k` },
      { workers: false },
    );
    await right.core.custodyOver(right.core.commands).trust();
    const { configuration, parts, redisUrl, now, logger, onError } = right.core;
    await expect(
      startProduct(
        { configuration, parts, redisUrl, now, logger, onError, masterKey: randomBytes(32) },
        { workers: true },
      ),
    ).rejects.toThrow('master key');
    await right.stop();
  });
});
