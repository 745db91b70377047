/**
 * Instances of workflows, from outside: start one, send it an event, answer an activity, see where it stands.
 *
 * Any process may do this; the turns are run by workers (worker.ts).
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import type { AnyEventObject } from 'xstate';
import type { RedisClient } from '../redis/connect.ts';
import { doneEvent, endKey, readToken } from './activities.ts';
import type { Workflow } from './define.ts';
import { resume } from './interpret.ts';
import { type InstanceRecord, recordSchema } from './record.ts';
import { createInstanceStore, type Delivery, type InstanceStore } from './redis/instance-store.ts';

/**
 * taken     The chart has made a transition with it, or will with the next turn.
 * refused   The chart has no transition for it where it stands.
 * finished  The instance has ended.
 * unknown   There is no such instance.
 * busy      A worker has been at its first turn for too long: ask again.
 */
export type SendResult = 'taken' | 'refused' | 'finished' | 'unknown' | 'busy';

export interface Instance {
  readonly id: string;
  /** Undefined before the first turn. */
  readonly record: InstanceRecord | undefined;
  readonly ended: 'no' | 'completed' | 'failed';
  readonly failedReason: string | undefined;
}

export interface Engine {
  /**
   * Makes an instance durable. One that exists under the id already stays as it is.
   *
   * @param id Letters, digits, `-` and `_`, not digits alone.
   * @throws ZodError when the input is not what the workflow takes.
   */
  start(
    workflow: Workflow,
    id: string,
    input?: unknown,
    options?: { readonly delayMs?: number },
  ): Promise<void>;
  /**
   * @param key Tells this event from every other one to this instance: sent again under the same key it is applied once.
   * @throws ZodError when the workflow takes no such event from outside.
   */
  send(workflow: Workflow, id: string, key: string, event: { readonly type: string }): Promise<SendResult>;
  /** Answers an activity that has said `later`. The first answer counts. */
  answer(
    token: string,
    answer: { readonly output: unknown } | { readonly error: Error },
  ): Promise<SendResult>;
  find(id: string): Promise<Instance | undefined>;
  /** What an event with this key has come to; undefined when none came. */
  verdict(id: string, key: string): Promise<'waiting' | 'taken' | 'refused' | undefined>;
}

const busyPatienceMs = 10_000;

/**
 * Delivers, and waits while a turn runs: it waits for nobody, and either takes the event or is over in a moment. A sender that
 * dies here leaves an event behind that nobody was woken for: whoever sends again, under the same key, wakes the job.
 */
export const deliver = async (
  store: InstanceStore,
  id: string,
  key: string,
  event: AnyEventObject,
): Promise<Delivery> => {
  const until = performance.now() + busyPatienceMs;
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 200)) {
    const { given, runs } = await store.deliver(id, key, event);
    const isOpen = given === 'busy' || (given === 'waiting' && !(await store.wake(id)) && runs);
    if (!isOpen) return given;
    if (performance.now() > until) return 'busy';
    await delay(pauseMs);
  }
};

const resultOf = (given: Delivery): SendResult => (given === 'waiting' ? 'taken' : given);

export const createEngine = (options: {
  readonly queue: Queue;
  readonly redis: RedisClient;
  readonly now: () => number;
}): Engine => {
  const { queue, redis, now } = options;
  const store = createInstanceStore(queue, redis, now);

  const recordIn = (record: unknown): InstanceRecord | undefined =>
    record === undefined ? undefined : recordSchema.parse(record);

  return {
    verdict: store.verdict,

    start: async (workflow, id, input, { delayMs } = {}) => {
      if (!/^[\w-]+$/.test(id) || /^\d+$/.test(id))
        throw new TypeError('id: letters, digits, - and _, not digits alone');
      await queue.add(workflow.chart.name, workflow.parseInput(input), {
        jobId: id,
        timestamp: now(),
        ...(delayMs !== undefined && { delay: delayMs }),
      });
    },

    send: async (workflow, id, key, event) => {
      const parsed = workflow.parseEvent(event);
      if (!parsed.success) throw parsed.error;
      const stored = await store.read(id);
      const record = recordIn(stored?.record);
      // Where it stands now it would refuse: said at once. What comes in between is judged by the turn.
      if (
        record !== undefined &&
        stored?.finishedOn === undefined &&
        record.version === workflow.chart.version
      ) {
        const known = await store.verdict(id, key);
        if (known === undefined && !resume(workflow.chart, id, record).apply(parsed.data, now()))
          return 'refused';
      }
      return resultOf(await deliver(store, id, key, parsed.data));
    },

    answer: async (token, answer) => {
      const named = readToken(token);
      if (named === undefined) return 'unknown';
      const { instance, child, run } = named;
      const event =
        'error' in answer
          ? {
              type: `xstate.error.actor.${child}`,
              error: { name: answer.error.name, message: answer.error.message },
              actorId: child,
            }
          : doneEvent(child, answer.output);
      return resultOf(await deliver(store, instance, endKey(child, run), { ...event, ...{ child, run } }));
    },

    find: async (id) => {
      const stored = await store.read(id);
      if (stored === undefined) return undefined;
      const { finishedOn, returnValue, failedReason } = stored;
      const failed = finishedOn !== undefined && failedReason !== undefined;
      const ended = finishedOn === undefined ? 'no' : failed ? 'failed' : 'completed';
      return {
        id,
        record: ended === 'completed' ? recordSchema.parse(returnValue) : recordIn(stored.record),
        ended,
        failedReason: failed ? failedReason : undefined,
      };
    },
  };
};
