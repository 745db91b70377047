/** What becomes of a person's silence when Redis is full at a bad moment: it is still silence. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DelayedError, type Job } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { InstanceStore } from '../../packages/engine/src/redis/instance-store.ts';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../src/redis/embedded/redis.ts';
import { recordIn } from '../../src/transactions/contract.ts';
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
  redis = await startEmbeddedRedis({
    command: process.env.PARAPH_REDIS_SERVER ?? 'redis-server',
    dataDir,
  });
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

const submitted = async (): Promise<Job> => {
  const msisdn = `+${nextPerson++}`;
  await byHand.product.post('/rest/service/sign', signRequest({ msisdn, mode: 'asynch' }));
  return byHand.take(byHand.shard.signatures, token);
};

const again = ({ id }: Job): Promise<Job> => byHand.wakeAndTake(byHand.shard.signatures, id, token);

const afterDeadline = ({ timestamp }: Job) => ({ now: () => timestamp + 61_000 });

/** Redis is full as the first commit is to be written, and has room again for the next. */
const fullOnce = () => {
  let commits = 0;
  return {
    wasFull: () => commits > 0,
    store: (real: InstanceStore): InstanceStore => ({
      ...real,
      commit: (...given) => {
        commits += 1;
        return commits === 1 ? whileFull(() => real.commit(...given)) : real.commit(...given);
      },
    }),
  };
};

const stateOf = ({ progress }: Job): unknown => Object(recordIn(progress)).state;

describe('a person who was asked and stays silent', () => {
  it('has expired when Redis was full as the end was decided', async () => {
    const { signatureTurn } = byHand;
    const job = await submitted();
    await expect(signatureTurn()(job, token)).rejects.toBeInstanceOf(DelayedError);
    const { store, wasFull } = fullOnce();
    const late = afterDeadline(job);
    await expect(signatureTurn({ store, ...late })(await again(job), token)).rejects.toBeInstanceOf(
      DelayedError,
    );
    expect(wasFull()).toBe(true);
    await expect(signatureTurn(late)(await again(job), token)).rejects.toThrow('_208');
  });

  it('has expired when Redis was full as it was written down who is asked', async () => {
    const { signatureTurn } = byHand;
    const job = await submitted();
    const { store, wasFull } = fullOnce();
    const prompted = vi.fn();
    await expect(
      signatureTurn({ store, devices: byHand.devicesThat(prompted) })(job, token),
    ).rejects.toBeInstanceOf(DelayedError);
    expect(wasFull()).toBe(true);
    // Nobody is asked before that is stored.
    expect(prompted).not.toHaveBeenCalled();
    const asks = await again(job);
    expect(stateOf(asks)).toBeUndefined();
    await expect(signatureTurn()(asks, token)).rejects.toBeInstanceOf(DelayedError);
    await expect(signatureTurn(afterDeadline(job))(await again(job), token)).rejects.toThrow(
      '_208',
    );
  });

  it.each([
    ['before Redis has what it wrote', () => Promise.resolve()],
    ['although Redis has what it wrote', (commit: () => Promise<unknown>) => commit()],
  ])('stays asked when the turn throws as it falls asleep, %s', async (_, arrive) => {
    const { signatureTurn } = byHand;
    const job = await submitted();
    let sleeps = 0;
    const store = (real: InstanceStore): InstanceStore => ({
      ...real,
      commit: async (...given) => {
        if (given[2].then !== 'sleeps') return real.commit(...given);
        sleeps += 1;
        await arrive(() => real.commit(...given));
        throw new Error('Command timed out');
      },
    });
    await expect(signatureTurn({ store })(job, token)).rejects.toBeInstanceOf(DelayedError);
    expect(sleeps).toBe(1);
    expect(await job.getState()).toBe('delayed');
    const ends = await again(job);
    expect(stateOf(ends)).toBe('pending');
    await expect(signatureTurn(afterDeadline(job))(ends, token)).rejects.toThrow('_208');
  });

  it('has expired when the device could not be asked at first', async () => {
    const { signatureTurn } = byHand;
    const devices = byHand.devicesThat(() => {
      throw new Error('The device is broken');
    });
    const job = await submitted();
    await expect(signatureTurn({ devices })(job, token)).rejects.toBeInstanceOf(DelayedError);
    // When it is tried again.
    const now = () => job.timestamp + 10_000;
    await expect(signatureTurn({ now })(await again(job), token)).rejects.toBeInstanceOf(
      DelayedError,
    );
    await expect(signatureTurn(afterDeadline(job))(await again(job), token)).rejects.toThrow(
      '_208',
    );

    const never = await submitted();
    await expect(signatureTurn({ devices })(never, token)).rejects.toBeInstanceOf(DelayedError);
    const late = signatureTurn({ devices, ...afterDeadline(never) })(await again(never), token);
    await expect(late).rejects.toThrow('_900');
  });
});
