/** The list of instances keeps each for as long as its job is kept, and has those of other programs, too. */
import { describe, expect, it } from 'vitest';
import { createListing, listInstances, type WorkflowStatus } from '../../src/workflows/listing.ts';
import { createStage, type Stage } from '../engine/stage.ts';
import { testRedis } from '../support/redis.ts';

const begin = createStage(testRedis());

const listed = async ({ queue, redis }: Pick<Stage, 'queue' | 'redis'>, status?: WorkflowStatus) => {
  const page = await listInstances([{ queue, redis }], { status }, { limit: 2000 });
  return page?.rows.map(({ id }) => id);
};

describe('the end of an instance', () => {
  it('leaves the list with its job, whatever else has ended', async () => {
    const { queue, redis } = begin();
    let time = 0;
    const retention = { doneMs: 10, failedMs: 100 };
    const listing = createListing({ queue, redis, retention, now: () => time });
    for (let index = 0; index < 1001; index += 1) await listing.note(`f${index}`, 1, 'failed', 'failed');
    await listing.note('cancelled', 1, 'cancelled', 'failed');
    time = 1;
    await listing.note('completed', 1, 'completed', 'completed');
    await listing.note('decided', 1, 'failed', 'completed');
    time = 50;
    await listing.note('last', 1, 'completed', 'completed');
    expect(await listed({ queue, redis }, 'completed')).toEqual(['last']);
    expect(await listed({ queue, redis }, 'cancelled')).toEqual(['cancelled']);
    expect(await listed({ queue, redis }, 'failed')).toHaveLength(1001);
    time = 150;
    for (const id of ['a', 'b']) await listing.note(id, 1, 'completed', 'completed');
    expect(await listed({ queue, redis })).toEqual(['b', 'a']);
  });
});
