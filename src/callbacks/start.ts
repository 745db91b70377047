/**
 * Callbacks of one worker process: who finds what there is to tell, and who tells it. Without an application that wants to hear
 * of its transactions, nothing is started and nothing is read.
 */
import type { Telemetry } from 'bullmq';
import { type Backoff, type CallbackLog, startCallbackWorkers } from '../../workers/callback.worker.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { RegisteredProvider } from '../registry/application-providers.ts';
import type { Shard } from '../transactions/shards.ts';
import type { FindTransaction } from '../transactions/transactions.ts';
import { createDeliver } from './deliver.ts';
import { createFollower } from './follower.ts';
import { createPost, type PostOptions } from './post.ts';

export interface CallbackSide {
  /** Resolves when all that had ended before the call has its jobs. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export interface CallbackSideOptions extends Omit<PostOptions, 'allowedHosts'> {
  /** A connection that outlasts any absence of Redis; the shards are opened on it. */
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: readonly Shard[];
  readonly find: FindTransaction;
  readonly providers: readonly RegisteredProvider[];
  readonly masterKey: Uint8Array;
  readonly allowedHosts?: readonly string[];
  readonly retention: { readonly failedMs: number };
  readonly log: CallbackLog;
  readonly onError: (error: Error) => void;
  readonly telemetry?: Telemetry | undefined;
  readonly tries?: number;
  readonly backoff?: Backoff;
  readonly pollMs?: number;
  readonly leaseMs?: number;
  readonly concurrency?: number;
  readonly lockMs?: number;
}

export const startCallbacks = async (options: CallbackSideOptions): Promise<CallbackSide> => {
  const { providers, allowedHosts = [], redis } = options;
  const apIds = new Set(providers.filter(({ callback }) => callback !== undefined).map(({ id }) => id));
  if (apIds.size === 0) return { idle: async () => undefined, close: async () => undefined };
  const deliver = createDeliver({ ...options, post: createPost({ ...options, allowedHosts }) });
  const workers = startCallbackWorkers({ ...options, blocking: redis, deliver });
  const follower = createFollower({ ...options, apIds });
  await workers.ready();
  follower.start();
  return {
    idle: follower.idle,
    close: async () => {
      await follower.close();
      await workers.close();
    },
  };
};
