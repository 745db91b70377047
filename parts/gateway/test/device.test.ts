/** The contract of all devices, for one behind a gateway. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { closeShards } from '../../../src/transactions/shards.ts';
import { describeDevice, personWith, sscdWith } from '../../../test/sscd/device-contract.ts';
import { rootsOf, testFiles } from '../../../test/support/gateway.ts';
import { startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { faultOf } from '../answers.ts';
import { gatewayList } from '../configuration.ts';
import { type GatewayNote, gatewayDevices } from '../device.ts';
import { type Gateways, openGateways } from '../gateways.ts';

const redis = testRedis();

describe('behind a gateway', () => {
  const writeFile = testFiles();
  let far: TestProduct;
  const gateways = new Map<string, Gateways>();
  const notes = new Map<string, GatewayNote>();

  beforeAll(async () => {
    far = await startTestProduct(redis, { listen: true });
    const trustAnchorsFile = writeFile('root.pem', await rootsOf(far));
    for (const mode of ['asynch', 'synch']) {
      const entry = {
        name: 'far',
        url: far.url,
        apId: 'http://near.example',
        mode,
        trustAnchorsFile,
      };
      gateways.set(mode, openGateways(gatewayList.parse([entry]), Date.now));
    }
  });
  afterAll(async () => {
    for (const each of gateways.values()) each.close();
    await far.stop();
  });

  /** Resolves when all requests at the other service have ended. */
  const hasEnded = async (): Promise<void> => {
    const [shard] = far.core.shardsOver(far.core.blocking);
    const open = ['active', 'wait', 'delayed', 'prioritized'] as const;
    await vi.waitFor(
      async () => expect(await shard?.signatures.queue.getJobCountByTypes(...open)).toBe(0),
      20_000,
    );
    await closeShards(shard === undefined ? [] : [shard]);
  };

  for (const mode of ['asynch', 'synch']) {
    describeDevice(`the device behind a gateway (${mode})`, () => {
      const sscd = sscdWith({ kind: 'gateway', upstream: 'far' });
      const known = gateways.get(mode);
      if (known === undefined) throw new Error('It is not open');
      const behind = gatewayDevices(known, {
        claim: async (id: string, attempt: number, note: GatewayNote) => {
          const before = notes.get(`${id} ${attempt}`);
          if (before === undefined) notes.set(`${id} ${attempt}`, note);
          return before ?? ('none' as const);
        },
        write: async (id: string, attempt: number, note: GatewayNote | undefined) => {
          if (note === undefined) notes.delete(`${id} ${attempt}`);
          else notes.set(`${id} ${attempt}`, note);
        },
      });
      const device = behind(sscd.device);
      if (device === undefined) throw new Error('It is of another kind');
      const subscriber = { ...personWith(sscd), msisdn: '41700092509' };
      const theirs = far.core.custodyOver(far.core.blocking);
      return {
        device,
        custody: theirs,
        subscriber,
        sscd,
        meanwhile: hasEnded,
        signsElsewhere: true,
      };
    });
  }
});

it('hands on a fault of a code that is not known here in one short line', () => {
  const [detail, reason] = ['x'.repeat(5000), `WEIRD\r\n${'R'.repeat(5000)}`];
  const handed = faultOf({ code: 777, reason, detail });
  expect(handed.code).toBe(900);
  expect(handed.detail).toMatch(/^_777 WEIRD R+: x+$/);
  expect(handed.detail.length).toBeLessThan(1200);
});
