/**
 * The callbacks of one worker process. Messages of processes may go to any address, so the workers
 * always run.
 */
import { createPosts, type PostOptions } from '../../src/http/outgoing/post.ts';
import type { LinkTo } from '../../src/part/rooms.ts';
import { type CallbackWorkersOptions, startCallbackWorkers } from './callback.worker.ts';
import { type CallbackProvider, subscribersIn } from './configuration.ts';
import { createDeliver } from './deliver.ts';
import { createCallbackFollower, type FollowerOptions } from './follower.ts';

export interface CallbackSideOptions
  extends Omit<PostOptions, 'allowedHosts'>,
    Omit<FollowerOptions, 'apIds'>,
    Omit<CallbackWorkersOptions, 'blocking' | 'deliver'> {
  readonly providers: readonly CallbackProvider[];
  readonly serviceKey: Uint8Array;
  readonly allowedHosts?: readonly string[];
  /** Makes links to the pages of signers. */
  readonly linkTo?: LinkTo | undefined;
}

export const startCallbacks = async (options: CallbackSideOptions) => {
  const { providers, allowedHosts = [], redis } = options;
  const apIds = subscribersIn(providers);
  const deliver = createDeliver({ ...options, ...createPosts({ ...options, allowedHosts }) });
  const workers = startCallbackWorkers({ ...options, blocking: redis, deliver });
  const follower = apIds.size > 0 ? createCallbackFollower({ ...options, apIds }) : undefined;
  try {
    await workers.ready();
  } catch (error) {
    await workers.close();
    throw error;
  }
  follower?.start();
  return {
    /** Resolves when all ends before the call have their jobs. */
    idle: async () => follower?.idle(),
    close: async () => {
      await follower?.close();
      await workers.close();
    },
  };
};

export type CallbackSide = Awaited<ReturnType<typeof startCallbacks>>;
