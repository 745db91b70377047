/**
 * Lets BullMQ's workers use the clock of Redis.
 *
 * A worker sends the time with every job that it takes, ends or delays. It decides which sleeping
 * jobs wake, and dates ends. BullMQ sends the time of the process, and a process that is five
 * minutes ahead would wake every job at once. So the time of Redis is sent instead, and the next
 * time to look for jobs, which comes back, is converted to the clock of the process.
 */
import { type BackendFactory, createRedisBackend, type RedisQueueBackend } from 'bullmq';

/** The index of the time among the arguments of a script: the second one after its keys. */
const timeAt = new Map([
  ['moveToActive', 11 + 1],
  ['moveToDelayed', 11 + 1],
  ['moveToFinished', 14 + 1],
]);

/** The index of the time at which the next sleeping job is due, in the answer to a fetch. */
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
      return marker !== null && marker.score > 0
        ? { ...marker, score: toHostTime(marker.score) }
        : marker;
    };
    return backend;
  };

/** A retention for BullMQ's `clean`, which uses the clock of the process. */
export const graceOf = (keptMs: number, now: () => number): number => keptMs + Date.now() - now();
