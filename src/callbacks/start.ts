/**
 * Callbacks of one worker process: who finds what there is to tell, and who tells it. Without an application that wants to hear
 * of its transactions, nothing is started and nothing is read.
 */
import { type CallbackWorkersOptions, startCallbackWorkers } from '../../workers/callback.worker.ts';
import type { RegisteredProvider } from '../registry/application-providers.ts';
import { createDeliver } from './deliver.ts';
import { createFollower, type FollowerOptions } from './follower.ts';
import { createPost, type PostOptions } from './post.ts';

export interface CallbackSide {
  /** Resolves when all that had ended before the call has its jobs. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export interface CallbackSideOptions
  extends Omit<PostOptions, 'allowedHosts'>,
    Omit<FollowerOptions, 'apIds'>,
    Omit<CallbackWorkersOptions, 'blocking' | 'deliver'> {
  readonly providers: readonly RegisteredProvider[];
  readonly masterKey: Uint8Array;
  readonly allowedHosts?: readonly string[];
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
