/** Whether an attempt of a transaction is over, so that it no longer holds the screen of a device. */
import { createInstanceStore } from '../../packages/engine/src/redis/instance-store.ts';
import type { Holder } from './device-lock.ts';
import { type Shard, shardFor } from './shards.ts';

/**
 * Makes a function that reads whether an attempt is over, with its effects carried out. An attempt
 * of an unknown transaction, such as that of a receipt, is not over.
 */
export const createIsOver =
  (shards: readonly Shard[], now: () => number) =>
  async ({ transactionId, attempt }: Holder): Promise<boolean> => {
    const at = shardFor(shards, transactionId)?.signatures;
    const stored = at && (await createInstanceStore(at.queue, at.redis, now).read(transactionId));
    if (stored === undefined) return false;
    const { context } = Object(stored.record) as {
      readonly context?: { readonly attempt?: unknown };
    };
    const isEarlier = typeof context?.attempt === 'number' && attempt < context.attempt;
    return stored.finishedOn !== undefined || stored.isReplayed || isEarlier;
  };
