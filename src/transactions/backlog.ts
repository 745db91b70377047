/**
 * How much work waits for a worker.
 *
 * Whoever decides about a request needs the answer at once, so the queues are asked now and then and never for a request:
 * a few times a second, and also as soon as this process alone has added a good part of what may wait. Between two looks
 * the number is what was found plus what was added here since. Other processes add too, so a limit may be overrun by what
 * they accept between two looks; it is a bound on memory and waiting time, not a promise of exactness.
 */
import { settlesWithin } from '../redis/patience.ts';
import type { Shard } from './shards.ts';

export interface Backlog {
  /** Transactions of all shards that wait for a worker, as far as is known. */
  size(): number;
  /** Tells that this process has added one. */
  added(): void;
  close(): Promise<void>;
}

const lookEveryMs = 250;
/** While the queue is too long: what the workers take from it makes room at once. */
const lookOftenMs = 50;
const closePatienceMs = 1000;

/**
 * Looks once and resolves; then goes on looking until it is closed.
 *
 * @param limit How many may wait. It decides how often is looked, nothing else.
 */
export const createBacklog = async ({
  shards,
  limit,
  onError,
}: {
  readonly shards: readonly Pick<Shard, 'signatures'>[];
  readonly limit: number;
  readonly onError: (error: Error) => void;
}): Promise<Backlog> => {
  const lookAfterAdded = Math.ceil(limit / 8);
  /** What each shard said last. One that does not answer keeps its number: adding to it fails and says so itself. */
  const found = shards.map(() => 0);
  let addedSince = 0;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;

  const size = (): number => found.reduce((sum, waiting) => sum + waiting, addedSince);

  const count = async (): Promise<void> => {
    const addedBefore = addedSince;
    await Promise.all(
      shards.map(async ({ signatures }, shard) => {
        try {
          found[shard] = await signatures.queue.getWaitingCount();
        } catch (error) {
          onError(error instanceof Error ? error : new Error(String(error)));
        }
      }),
    );
    // What was added while the question was under way may be in the answer or not: counting it errs on the safe side.
    addedSince -= addedBefore;
  };

  const look = (): void => {
    if (looking !== undefined || closed) return;
    clearTimeout(timer);
    looking = count().then(() => {
      looking = undefined;
      if (!closed) timer = setTimeout(look, size() >= limit ? lookOftenMs : lookEveryMs);
    });
  };

  look();
  await looking;
  return {
    size,
    added: () => {
      addedSince += 1;
      if (addedSince >= lookAfterAdded) look();
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      if (looking !== undefined) await settlesWithin(looking, closePatienceMs);
    },
  };
};
