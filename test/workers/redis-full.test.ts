/** What becomes of a person's silence when Redis is full at a bad moment: it is still silence. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DelayedError, type Job } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../src/embedded/redis.ts';
import { createDevices } from '../../src/sscd/devices.ts';
import { createOutbox } from '../../src/sscd/text-gateway.ts';
import { wake } from '../../src/transactions/job-home.ts';
import type { SignatureJob } from '../../workers/taking.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { type ByHand, startByHand } from './by-hand.ts';

const names = testRedis();
const silent = { device: { kind: 'simulated', sign: 'never-answers' } };
const token = 'hand';
let dataDir: string;
let redis: EmbeddedRedis;
let byHand: ByHand;
let nextPerson = 41_787_000_000;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'paraph-full-'));
  redis = await startEmbeddedRedis({ command: process.env.PARAPH_REDIS_SERVER ?? 'redis-server', dataDir });
  const connection = { path: redis.url.replace('unix:', ''), maxRetriesPerRequest: null };
  byHand = await startByHand(
    { ...names, url: redis.url, connection },
    { subscribers: [{ msisdn: '41787000000', through: '41787000099', sim: silent }] },
  );
});
afterAll(async () => {
  await byHand?.stop();
  await redis?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** While it is carried out, Redis refuses to write. */
const whileFull = async <T>(command: () => Promise<T>): Promise<T> => {
  const { blocking } = byHand.product.core;
  await blocking.config('SET', 'maxmemory', '1');
  try {
    return await command();
  } finally {
    await blocking.config('SET', 'maxmemory', '0');
  }
};

const submitted = async (): Promise<SignatureJob> => {
  const msisdn = `+${nextPerson++}`;
  await byHand.product.post('/rest/service/sign', signRequest({ msisdn, mode: 'asynch' }));
  return byHand.take(byHand.shard.signatures, token);
};

const again = async ({ id = '' }: Job): Promise<SignatureJob> => {
  await wake(byHand.shard.signatures.queue, id);
  return byHand.take(byHand.shard.signatures, token);
};

const afterDeadline = ({ timestamp }: Job) => ({ now: () => timestamp + 61_000 });

describe('a person who was asked and stays silent', () => {
  it('has expired when Redis was full as the end was decided', async () => {
    const { shard, signatureTurn } = byHand;
    const job = await submitted();
    await expect(signatureTurn()(job, token)).rejects.toBeInstanceOf(DelayedError);
    const ends = await again(job);
    const { home } = shard.signatures;
    let full = true;
    const decide: typeof home.decide = (...given) => {
      const first = full;
      full = false;
      return first ? whileFull(() => home.decide(...given)) : home.decide(...given);
    };
    const at = { ...shard.signatures, home: { ...home, decide } };
    await expect(signatureTurn({ at, ...afterDeadline(job) })(ends, token)).rejects.toThrow('_208');
    expect(full).toBe(false);
  });

  it('has expired when Redis was full as it was written down who is asked', async () => {
    const { shard, signatureTurn } = byHand;
    const { home } = shard.signatures;
    const job = await submitted();
    let full = true;
    const save: typeof home.save = (...given) => {
      const first = full;
      full = false;
      return first ? whileFull(() => home.save(...given)) : home.save(...given);
    };
    const at = { ...shard.signatures, home: { ...home, save } };
    await expect(signatureTurn({ at })(job, token)).rejects.toBeInstanceOf(DelayedError);
    const asks = await again(job);
    expect(asks.data).toMatchObject({ troubled: true, transaction: { state: 'submitted' } });
    await expect(signatureTurn()(asks, token)).rejects.toBeInstanceOf(DelayedError);
    await expect(signatureTurn(afterDeadline(job))(await again(job), token)).rejects.toThrow('_208');
  });

  it('stays asked when a step throws afterwards', async () => {
    const { signatureTurn } = byHand;
    const job = await submitted();
    const { moveToDelayed } = job;
    job.moveToDelayed = async () => {
      job.moveToDelayed = moveToDelayed;
      throw new Error('Command timed out');
    };
    await expect(signatureTurn()(job, token)).rejects.toBeInstanceOf(DelayedError);
    const ends = await again(job);
    expect(ends.data).toMatchObject({ transaction: { state: 'pending' } });
    await expect(signatureTurn(afterDeadline(job))(ends, token)).rejects.toThrow('_208');
  });

  it('has expired when the device could not be asked at first', async () => {
    const { product, signatureTurn } = byHand;
    const { blocking } = product.core;
    const devices = createDevices({
      custody: product.core.custodyOver(blocking),
      gateway: createOutbox(blocking, 'unused', Date.now),
    });
    const broken = {
      deviceFor: (target: Parameters<typeof devices.deviceFor>[0]) => ({
        ...devices.deviceFor(target),
        prompt: async () => {
          throw new Error('The device is broken');
        },
      }),
    };
    const job = await submitted();
    await expect(signatureTurn({ devices: broken })(job, token)).rejects.toBeInstanceOf(DelayedError);
    const asks = await again(job);
    expect(asks.data.troubled).toBe(true);
    await expect(signatureTurn()(asks, token)).rejects.toBeInstanceOf(DelayedError);
    await expect(signatureTurn(afterDeadline(job))(await again(job), token)).rejects.toThrow('_208');

    const never = await submitted();
    await expect(signatureTurn({ devices: broken })(never, token)).rejects.toBeInstanceOf(DelayedError);
    const late = signatureTurn({ devices: broken, ...afterDeadline(never) })(await again(never), token);
    await expect(late).rejects.toThrow('_900');
  });
});
