/** The search index in a thread of its own, as the compiled program keeps it. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type IndexSettings, keepIndexInThread } from '../../src/app/index-keeper.ts';
import { testRedis } from '../support/redis.ts';
import { retention, type Stage, startStage } from '../transactions/history/stage.ts';

const test = testRedis();
const compiled = new URL('../../dist/src/app/index-thread.js', import.meta.url);
let stage: Stage;
let settings: IndexSettings;
const errors: Error[] = [];
const onError = (error: Error): void => void errors.push(error);

beforeEach(async () => {
  stage = await startStage(test);
  settings = { redisUrl: test.url, prefix: stage.prefix, shards: 1, retention };
  errors.length = 0;
});
afterEach(() => stage.close());

const states = async () =>
  (await stage.all({})).map(({ msspTransId, state }) => [msspTransId, state]);

describe('the index in a thread', () => {
  it('has what was there, what comes and what ends, and leaves the rest to others when it is closed', async () => {
    const before = await stage.submit();
    const keeper = keepIndexInThread(settings, { onError }, compiled);
    await vi.waitFor(async () => expect(await states()).toEqual([[before, 'submitted']]), 20_000);
    const later = await stage.submit();
    await stage.sign(await stage.take());
    await vi.waitFor(
      async () =>
        expect((await states()).sort()).toEqual(
          [
            [before, 'signed'],
            [later, 'submitted'],
          ].sort(),
        ),
      10_000,
    );
    await keeper.close();
    // The lease is free at once.
    const indexer = stage.indexer();
    await stage.submit();
    await indexer.idle();
    expect(await states()).toHaveLength(3);
    expect(errors).toEqual([]);
  });

  it('is begun again when it dies, and says so', async () => {
    const dying = new URL('data:text/javascript,process.exit(1)');
    const keeper = keepIndexInThread(settings, { onError }, dying);
    await vi.waitFor(() => expect(errors.length).toBeGreaterThan(1), 20_000);
    expect(errors[0]?.message).toBe('The thread that keeps the search index has ended');
    await keeper.close();
  });
});
