/**
 * Makes a callback job of every end of a transaction whose application has subscribed.
 *
 * Ends are read afterwards from the events of the queues (src/transactions/history/follower.ts). The position in
 * the events is stored after the jobs, so a process may die anywhere: what is read again is added
 * again, and a job whose id exists is not added twice. For the same reason two processes that both
 * hold a shard do no harm, and neither does a position that moves back.
 *
 * Ends older than a day are not reported: their job, which prevents a second report, is kept for
 * two days only.
 *
 * Subscribers are those of all running processes (subscribers.ts): during a roll-out a process with
 * an older configuration may read the events.
 */

import type { RedisClient } from '../../src/redis/connect.ts';
import {
  type Changes,
  eventsArguments,
  eventsScript,
  readAnswer,
  untilRead,
} from '../../src/transactions/history/events.ts';
import { createFollower } from '../../src/transactions/history/follower.ts';
import { readJobs } from '../../src/transactions/history/jobs.ts';
import { type ShardKeys, shardKeys } from '../../src/transactions/history/keys.ts';
import { createLeaderTask } from '../../src/transactions/history/leader-task.ts';
import { beginning, type EventPosition } from '../../src/transactions/history/position.ts';
import { shardOf } from '../../src/transactions/ids.ts';
import type { Shard } from '../../src/transactions/shards.ts';
import type { FindTransaction } from '../../src/transactions/transactions.ts';
import type { CallbackMessage } from './callback.machine.ts';
import { callbackJobName } from './callback.workflow.ts';
import { callbacksOf } from './queue.ts';
import { createCallbackSubscribers } from './subscribers.ts';
import { readEvents, type TransactionEvent, toInternalError } from './transaction-events.ts';

export interface FollowerOptions {
  /** A connection that reconnects without end. */
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: readonly Shard[];
  /**
   * Finds a transaction like a status request, so that the reported end equals the answered one.
   */
  readonly find: FindTransaction;
  /** The callback subscribers that this process knows. */
  readonly apIds: ReadonlySet<string>;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
  /** The maximum of tries of a message. Default 10. */
  readonly tries?: number;
  /** The pause when there were no events. Default 200. */
  readonly pollMs?: number;
  /** The length of the lease, after which another process takes over. Default 5000. */
  readonly leaseMs?: number;
}

/** The age up to which ends are reported; less than `deliveredMs` (callback.worker.ts). */
const toldForMs = 86_400_000;
/** Time before now that is read without a position: covers ends during the start. */
const startLastsMs = 60_000;

const readPosition = (text: string | null): EventPosition | undefined => {
  const [, signatures, receipts] = /^(\d+-\d+) (\d+-\d+)$/.exec(text ?? '') ?? [];
  return signatures === undefined || receipts === undefined ? undefined : { signatures, receipts };
};

const endedScript = `${eventsScript(`
  return (event == 'completed' or event == 'failed') and id`)}
for _, id in ipairs(ids) do found[#found + 1] = id end
return found`;

/** Reads the transactions of a shard that have ended since a position, in any way. */
const readEnded = async (
  redis: RedisClient,
  keys: ShardKeys,
  since: EventPosition,
): Promise<Changes> => {
  const [streams, from] = eventsArguments(keys, since);
  const { rest, ...read } = readAnswer(await redis.eval(endedScript, 2, ...streams, ...from));
  return { ...read, ids: rest.map(String) };
};

/** A message to be delivered. A job whose id exists is not added again. */
export const callbackJob = (id: string, data: CallbackMessage, tries: number) => ({
  name: callbackJobName,
  data,
  opts: { jobId: id, attempts: tries },
});

export const createCallbackFollower = (options: FollowerOptions) => {
  const {
    redis,
    prefix,
    shards,
    find,
    apIds,
    now,
    onError,
    tries = 10,
    pollMs = 200,
    leaseMs,
  } = options;
  const beganAt = now();
  const told = createCallbackSubscribers({ redis, prefix, apIds, now, onError });

  /** Checks signed ends like a status request, because other programs can write to Redis. */
  const asAnswered = async (
    ends: readonly TransactionEvent[],
  ): Promise<readonly TransactionEvent[]> => {
    const signed = ends.find(({ data }) => data.end.state !== 'failed');
    const view = signed && (await find(signed.data.msspTransId));
    return view?.state.kind === 'failed' ? ends.map(toInternalError) : ends;
  };

  const openPlace = (shard: Shard) => {
    const { index, prefix: at } = shard;
    const keys = shardKeys(prefix, index);
    const positionKey = `${at}:callback-position`;
    const duty = createLeaderTask({ redis, key: `${at}:callback-lease`, leaseMs, onError });

    const position = async (): Promise<EventPosition | undefined> =>
      readPosition(await redis.get(positionKey));

    /** Earlier ends are not reported, during the first scan and later. */
    let firstScanSince: number | undefined;
    const oldest = (): number => firstScanSince ?? now() - toldForMs;

    const addJobs = async (ids: readonly string[]): Promise<void> => {
      const since = oldest();
      // Other jobs in the queue end as faults and are not transactions.
      const own = ids.filter((id) => shardOf(id, shards.length) === index);
      if (own.length === 0) return;
      const jobs = await readJobs(redis, keys, own);
      const all = await told.all();
      const found = own.map((id, number) =>
        readEvents(id, jobs[number] ?? [], (apId) => all.has(apId), since),
      );
      const ends = (await Promise.all(found.map(asAnswered))).flat();
      if (ends.length === 0) return;
      await callbacksOf(shard).queue.addBulk(
        ends.map(({ id, data }) => callbackJob(id, data, tries)),
      );
    };

    const follower = createFollower<EventPosition>({
      redis,
      keys,
      mayGoOn: duty.mayGoOn,
      position,
      begin: async (scan) => {
        const since = beganAt - startLastsMs;
        firstScanSince = since;
        try {
          const nowhere = { signatures: beginning, receipts: beginning };
          return await scan(nowhere, { signatures: since, receipts: since });
        } finally {
          firstScanSince = undefined;
        }
      },
      read: (_, since) => readEnded(redis, keys, since),
      handle: async (stored, to, ids) => {
        await addJobs(ids);
        if (to !== stored) await redis.set(positionKey, `${to.signatures} ${to.receipts}`);
        return to;
      },
      oldest,
    });

    return {
      start: () => duty.start(async () => ((await follower.step()) === 'more' ? 0 : pollMs)),
      close: duty.close,
      idle: () => untilRead(redis, keys, position, pollMs),
    };
  };

  const places = shards.map(openPlace);

  return {
    start: (): void => {
      told.start();
      for (const { start } of places) start();
    },
    /** Finishes the current step and lets other processes take over at once. */
    close: async (): Promise<void> => {
      told.close();
      await Promise.all(places.map(({ close }) => close()));
    },
    /** Resolves when all ends before the call have their jobs, made by any process. */
    idle: async (): Promise<void> => {
      await Promise.all(places.map(({ idle }) => idle()));
    },
  };
};

export type CallbackFollower = ReturnType<typeof createCallbackFollower>;
