/** Refused requests: what operators see of requests that never became a transaction. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  countRefusals,
  createRefusals,
  type Refusals,
  readRefusals,
} from '../../src/transactions/history/refusals.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest, statusRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';
import { type ApiStage, startApiStage } from './api-stage.ts';

const redis = testRedis();
const bank = 'http://bank.example';
let stage: ApiStage;
let other: TestProduct;

beforeAll(async () => {
  stage = await startApiStage(redis);
  // Another process of the same service.
  other = await startTestProduct(redis, {
    masterKey: stage.product.core.serviceKey,
    workers: false,
    configuration: { sandbox: false, applicationProviders: [{ id: bank, rateLimit: undefined }] },
  });
});
afterAll(async () => {
  await other.stop();
  await stage.close();
  expect(stage.troubles).toEqual([]);
});

const read = async (query = ''): Promise<Refusals> =>
  (await stage.ask('viewer', 'GET', `/admin/api/refusals${query}`)).body;

describe('refused requests', () => {
  it('are counted by application, fault and detail, and listed, from every process', async () => {
    const wrong = signRequest({ apId: bank, msisdn: '+41790000077' });
    wrong.MSS_SignatureReq.TimeOut = '100000';
    for (const product of [stage.product, other, other]) {
      expect((await product.post('/rest/service/sign', wrong)).status).toBe(500);
    }
    await other.post('/rest/service', signRequest({ apId: 'http://nobody.example' }));
    await other.post('/rest/service', 'no json');
    await other.post('/rest/service/status', statusRequest('H00aB3dE5fG7hI9jK1lM', bank));
    await other.post('/rest/service/Sign', {});
    const count = (counts: Refusals['counts'], apId: string | undefined, detail: RegExp): number =>
      counts
        .filter((each) => each.apId === apId && detail.test(each.detail))
        .reduce((sum, { lastHour }) => sum + lastHour, 0);
    await soon(async () => {
      const { counts, latest } = await read();
      expect(count(counts, bank, /TimeOut must be/)).toBe(3);
      expect(count(counts, 'http://nobody.example', /AP is unknown/)).toBe(1);
      expect(count(counts, undefined, /^Body/)).toBe(1);
      expect(count(counts, bank, /TransID is unknown/)).toBe(1);
      expect(count(counts, undefined, /no such operation/)).toBe(1);
      expect(counts.find(({ apId, isRegistered }) => apId === bank && isRegistered)?.lastDay).toBe(
        2,
      );
      expect(latest.find(({ apId }) => apId === 'http://nobody.example')).toMatchObject({
        operation: 'sign',
        fault: 104,
        reason: 'UNAUTHORIZED_ACCESS',
        isRegistered: false,
        count: 1,
      });
    });
    const { counts, latest } = await read(`?apId=${encodeURIComponent(bank)}`);
    expect(new Set([...counts, ...latest].map(({ apId }) => apId))).toEqual(new Set([bank]));
    expect(JSON.stringify(await read())).not.toMatch(/100000|0000077|H00aB3dE/);
  });

  it('are none that became a transaction, whatever its end', async () => {
    const apId = 'http://ended.example';
    const ended = await stage.product.post(
      '/rest/service/sign',
      signRequest({ apId, msisdn: '+41000092401' }),
    );
    expect(ended.body.Fault.Code.SubCode.Value).toMatch(/401/);
    const id = await stage.product.submit({ apId, msisdn: '+41000092401' });
    await soon(async () => expect(await stage.product.statusOf(id, apId)).toBe('_401'));
    await stage.product.post('/rest/service/receipt', {});
    // Written in order: what came before is there when this is.
    await soon(async () =>
      expect((await read()).latest.some(({ operation }) => operation === 'receipt')).toBe(true),
    );
    expect((await read(`?apId=${apId}`)).latest).toEqual([]);
  });

  it.each([
    ['outside of a sandbox, where the name has room for twenty', false, 20],
    ['in a sandbox, where nobody is registered, with the name', true, 60],
  ])(
    'keep their detail when one application makes many kinds of mistakes, %s',
    async (_, sandbox, named) => {
      const prefix = `${stage.prefix.slice(-30)}-${sandbox ? 'y' : 'z'}`;
      const redisClient = stage.product.core.commands;
      const errors: Error[] = [];
      const time = Date.now();
      const refusals = createRefusals({
        redis: redisClient,
        prefix,
        sandbox,
        isRegistered: () => false,
        now: () => time,
        onError: (error) => void errors.push(error),
      });
      const details = Array.from({ length: 60 }, (_, index) => `Member${index} must be a string`);
      const note = (detail: string) =>
        refusals.note({ apId: 'mid://new.example', fault: 101, detail });
      // All at once, as a test suite sends them, and one after the other.
      for (const detail of details) note(detail);
      await refusals.close();
      for (const detail of details) {
        note(detail);
        await refusals.close();
      }
      expect(errors).toEqual([]);
      const { counts, latest } = await readRefusals(redisClient, prefix, time);
      const sumOf = (detail: string): number =>
        counts
          .filter((each) => each.detail === detail)
          .reduce((sum, { lastHour }) => sum + lastHour, 0);
      expect(details.map((detail) => [detail, sumOf(detail)])).toEqual(
        details.map((detail) => [detail, 2]),
      );
      expect(new Set(latest.map(({ detail }) => detail))).toEqual(new Set(details));
      expect(counts.filter(({ apId }) => apId !== undefined)).toHaveLength(named);
      // Whoever varies details without end makes no more groups.
      for (let index = 0; index < 5000; index += 1) {
        note(`Other${index}`);
        if (index % 100 === 0) await refusals.close();
      }
      await refusals.close();
      const kept = await readRefusals(redisClient, prefix, time);
      expect(kept.counts.length).toBeLessThanOrEqual(sandbox ? 200 : 121);
      expect(await countRefusals(redisClient, prefix, time)).toMatchObject({ lastHour: 5120 });
    },
  );

  it('are bounded, whoever invents names, and leave registered ones their room', async () => {
    const prefix = `${stage.prefix.slice(-30)}-x`;
    const redisClient = stage.product.core.commands;
    const errors: Error[] = [];
    const time = Date.now();
    const refusals = createRefusals({
      redis: redisClient,
      prefix,
      sandbox: false,
      isRegistered: (apId) => apId === bank,
      // So that all is in one bucket.
      now: () => time,
      onError: (error) => void errors.push(error),
    });
    for (let round = 0; round < 3; round += 1) {
      for (let name = 0; name < 1000; name += 1) {
        refusals.note({
          apId: `http://${round}-${name}.${'x'.repeat(200)}`,
          fault: 104,
          detail: `Denied[${name}]`,
        });
      }
      refusals.note({ apId: bank, operation: 'sign', fault: 104, detail: 'Access denied' });
      await refusals.close();
    }
    expect(errors).toEqual([]);
    const { counts, latest } = await readRefusals(redisClient, prefix, time);
    expect(await countRefusals(redisClient, prefix, time)).toEqual({
      lastHour: 3003,
      lastDay: 3003,
    });
    expect(counts.find(({ apId }) => apId === bank)).toMatchObject({
      lastHour: 3,
      detail: 'Access denied',
    });
    expect(latest.filter(({ apId }) => apId === bank)).toHaveLength(3);
    // Twenty names and what found no room, which keeps its detail; the bank.
    expect(counts).toHaveLength(22);
    expect(counts.filter((each) => each.apId === undefined)).toMatchObject([
      { fault: 104, detail: 'Denied[n]', lastHour: 2980 },
    ]);
    expect(counts.every(({ apId = '' }) => apId.length <= 64)).toBe(true);
    const keys = await redisClient.keys(`{${prefix}-refused}:*`);
    expect(keys.length).toBeGreaterThan(3);
    for (const key of keys) expect(await redisClient.pttl(key)).toBeGreaterThan(0);
  });
});
