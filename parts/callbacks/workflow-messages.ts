/**
 * Makes a callback job of what happens in a workflow. What is told again makes the same job.
 */
import { hash } from 'node:crypto';
import { spreadOver } from '../../packages/engine/src/engine.ts';
import type { Tellers } from '../../src/http/outgoing/tellers.ts';
import type { RedisClient } from '../../src/redis/connect.ts';
import { ownIdOf } from '../../src/transactions/jobs/instance-ids.ts';
import type { Shard } from '../../src/transactions/shards.ts';
import { processName } from './callback-row.ts';
import { callbackJob } from './follower.ts';
import { callbacksOf } from './queue.ts';

export const createTellWorkflow = (options: {
  readonly shards: readonly Shard[];
  readonly redis: RedisClient;
  /** Applications with a callback. */
  readonly apIds: ReadonlySet<string>;
  readonly now: () => number;
  readonly tries?: number;
}): Tellers['tell'] => {
  const { shards, redis, apIds, now, tries = 10 } = options;
  const locate = spreadOver(
    shards.map((shard) => callbacksOf(shard).queue),
    redis,
    now,
  );
  return async (message, { id, instance }) => {
    if (message.url === undefined && !apIds.has(message.apId)) return;
    const { workflow = processName } = message;
    const data = { process: ownIdOf(instance, workflow), at: now(), ...message };
    const jobId = `process-${hash('sha256', id).slice(0, 40)}`;
    await locate(instance).queue.addBulk([callbackJob(jobId, data, tries)]);
  };
};
