/**
 * Lets BullMQ's workers take the time from Redis.
 *
 * A worker tells Redis what time it is with every job that it takes, ends or delays: by that, sleeping jobs are woken and
 * ends are dated. BullMQ takes it from the clock of the process. One that is five minutes ahead would wake every job at
 * once, and again as soon as it sleeps. So what goes to Redis is the time of Redis, and what comes back as the next time
 * to look is turned into that of the process, by which BullMQ waits.
 */
import { type BackendFactory, createRedisBackend, type RedisQueueBackend } from 'bullmq';

/** Where a script takes the time: as its second argument, behind its keys. */
const timeAt = new Map([
  ['moveToActive', 11 + 1],
  ['moveToDelayed', 11 + 1],
  ['moveToFinished', 14 + 1],
]);

/** What a script answers that has fetched the next job: job, its id, rate limit, and when the next sleeper is due. */
const dueAt = 3;

export const inRedisTime =
  (now: () => number): BackendFactory<RedisQueueBackend> =>
  (name, options, kind) => {
    const backend = createRedisBackend(name, options, kind);
    const execute = backend.execCommand.bind(backend);
    const waitForJob = backend.waitForJob.bind(backend);
    const toHostTime = (time: number): number => time + Date.now() - now();

    backend.execCommand = async (client, command, given) => {
      const at = timeAt.get(command);
      if (at === undefined) return execute(client, command, given);
      given[at] = now();
      const answer = await execute(client, command, given);
      if (Array.isArray(answer) && answer[dueAt] > 0) answer[dueAt] = toHostTime(answer[dueAt]);
      return answer;
    };
    backend.waitForJob = async (timeout) => {
      const marker = await waitForJob(timeout);
      return marker !== null && marker.score > 0 ? { ...marker, score: toHostTime(marker.score) } : marker;
    };
    return backend;
  };

/** How long ended jobs are kept, as BullMQ's `clean` wants it: it takes that from the clock of the process. */
export const graceOf = (keptMs: number, now: () => number): number => keptMs + Date.now() - now();
