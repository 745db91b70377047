/** `paraph/workflow` for charts that plain XState runs as well (kills.ts). */
import { fromPromise } from './xstate-recorded.ts';

export const activity = (run: (given: object) => Promise<unknown>): unknown =>
  (fromPromise as (create: unknown) => unknown)((given: object) => run({ ...given, token: '' }));
export const defineWorkflow = (): object => ({});
