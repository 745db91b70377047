/**
 * A producer of workflow instances that needs only Redis. It adds the jobs of
 * docs/queue-contract.md.
 */
import { randomBytes } from 'node:crypto';
import { workflowNamePattern } from '../../packages/engine/src/define.ts';
import { spreadOver } from '../../packages/engine/src/engine.ts';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { type ConnectionOptions, openConnections } from '../../src/queue/connections.ts';
import { maxShards } from '../../src/transactions/ids.ts';
import { instanceIdOf, ownIdPattern } from '../../src/transactions/jobs/instance-ids.ts';
import { closeShards, openShards } from '../../src/transactions/shards.ts';
import { workflowQueueName, workflowsOf } from './queue.ts';

export type WorkflowQueueOptions = ConnectionOptions & {
  /** `queue.prefix` of the service's configuration. */
  readonly prefix?: string;
  /** `queue.shards` of the service's configuration. */
  readonly shards?: number;
  /** Whose instances they are. */
  readonly apId: string;
  /** Errors of Redis that reject no call. */
  readonly onError?: (error: Error) => void;
};

/** What is to be started. */
export interface WorkflowStart {
  /** 1 to 64 letters, digits, `-` or `_`. Started again under it, it stays as it is. */
  readonly id?: string | undefined;
  readonly input: unknown;
}

/**
 * accepted     It is durable, under this id, now or from before.
 * refused      It cannot be started; `problem` names the place, never the value.
 * unconfirmed  Redis broke off. Adding it again under this id is safe.
 */
export type WorkflowOutcome =
  | { readonly kind: 'accepted' | 'unconfirmed'; readonly id: string }
  | { readonly kind: 'refused'; readonly problem: string };

export interface WorkflowQueue {
  /**
   * Starts thousands of instances of a workflow. An outcome for each, in the same order.
   *
   * @param name Of the workflow. The definition of a `process` is checked; whether the service
   *   knows its numbers is checked by the worker.
   * @throws When Redis cannot be reached at all.
   */
  start(name: string, all: readonly WorkflowStart[]): Promise<readonly WorkflowOutcome[]>;
  close(): Promise<void>;
}

const chunkSize = 250;

/** What a part that brings workflows says of their instances before they are added. */
export interface InputRules {
  /** Workflows that the service alone starts. */
  readonly hidden: readonly string[];
  /**
   * @param now Milliseconds since the epoch.
   * @returns What is wrong; undefined also for the input of any other workflow.
   */
  problemIn(name: string, input: unknown, now: number): string | undefined;
  /** What it brings to the rules of another part. */
  readonly brings?: unknown;
  /** @returns These rules with what others bring. */
  receive?(brought: readonly unknown[]): InputRules;
}

export const createCheckedQueue = (
  options: WorkflowQueueOptions,
  given: readonly InputRules[],
): WorkflowQueue => {
  const brought = given.flatMap(({ brings }) => brings ?? []);
  const rules = given.map((each) => each.receive?.(brought) ?? each);
  const { prefix = 'paraph', shards: count = 1, apId, onError = () => undefined } = options;
  if (!Number.isInteger(count) || count < 1 || count > maxShards)
    throw new TypeError(`shards must be a whole number from 1 to ${maxShards}`);
  if (apId.length === 0 || apId.length > 256)
    throw new TypeError('apId must have 1 to 256 characters');
  const connections = openConnections(options, onError);
  const { commands, now } = connections;
  const shards = openShards({
    redis: commands,
    prefix,
    shards: count,
    queues: [workflowQueueName],
    onError,
  });
  const locate = spreadOver(
    shards.map((shard) => workflowsOf(shard).queue),
    commands,
    now,
  );

  const problemIn = (name: string, { id, input }: WorkflowStart): string | undefined => {
    if (id !== undefined && !ownIdPattern.test(id))
      return 'id must be 1 to 64 letters, digits, - or _';
    const at = now();
    return rules.map((each) => each.problemIn(name, input, at)).find((each) => each !== undefined);
  };

  return {
    start: async (name, all) => {
      if (!workflowNamePattern.test(name) || rules.some(({ hidden }) => hidden.includes(name)))
        throw new TypeError('name must be the name of a workflow');
      await connections.connected();
      const outcomes: WorkflowOutcome[] = [];
      for (let from = 0; from < all.length; from += chunkSize) {
        const byQueue = new Map<
          ReturnType<typeof locate>['queue'],
          { index: number; id: string }[]
        >();
        for (const [offset, given] of all.slice(from, from + chunkSize).entries()) {
          const index = from + offset;
          const problem = problemIn(name, given);
          if (problem !== undefined) {
            outcomes[index] = { kind: 'refused', problem };
            continue;
          }
          const id = given.id ?? randomBytes(15).toString('base64url');
          const { queue } = locate(instanceIdOf(apId, name, id));
          byQueue.set(queue, [...(byQueue.get(queue) ?? []), { index, id }]);
        }
        await Promise.all(
          [...byQueue].map(async ([queue, placed]) => {
            const jobs = placed.map(({ index, id }) => ({
              name,
              data: { apId, input: all[index]?.input },
              opts: { jobId: instanceIdOf(apId, name, id), timestamp: now() },
            }));
            const kind = await queue.addBulk(jobs).then(
              () => 'accepted' as const,
              (error: unknown) => {
                onError(toError(error));
                return 'unconfirmed' as const;
              },
            );
            for (const { index, id } of placed) outcomes[index] = { kind, id };
          }),
        );
      }
      return outcomes;
    },

    close: async () => {
      await closeShards(shards);
      await connections.close();
    },
  };
};
