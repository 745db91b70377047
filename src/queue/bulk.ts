/**
 * Adds thousands of requests in one call, in chunks, each chunk in one pipeline for each shard.
 *
 * A pipeline is not a transaction: every job is added atomically by itself. When Redis does not
 * confirm a pipeline, its jobs are looked up by their ids; what stays unknown is reported so.
 */
import type { Job } from 'bullmq';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { type SignatureJobData, signatureJobName } from '../transactions/contract.ts';
import { giveUpIfGone, type Shard } from '../transactions/shards.ts';
import type { RequestObjection } from './errors.ts';
import type { SignatureHandle } from './handle.ts';
import { type EnqueueOptions, type Placement, placeRequest } from './placement.ts';
import type { ReadInput, SignatureInput } from './request.ts';

/**
 * accepted     It is durable, under this id.
 * joined       It joined an earlier request that is open, or that HTTP still joins.
 * refused      It is invalid; nothing was added.
 * unconfirmed  Redis broke off: it may have been added under this id. `find` says so later; adding
 *              it again may ask twice.
 */
export type EnqueueOutcome =
  | { readonly kind: 'accepted' | 'joined'; readonly id: string; readonly handle: SignatureHandle }
  | { readonly kind: 'refused'; readonly objection: RequestObjection }
  | { readonly kind: 'unconfirmed'; readonly id: string; readonly handle: SignatureHandle };

/** Small enough that a pipeline ends long before a command times out. */
const chunkSize = 250;

interface Placed extends Placement {
  readonly index: number;
  readonly data: SignatureJobData;
}

export const createBulk = (deps: {
  readonly readInput: ReadInput;
  readonly shardAt: (index: number) => Shard;
  readonly shardCount: number;
  readonly handleOf: (id: string, shard: Shard) => SignatureHandle;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}) => {
  const { readInput, shardAt, shardCount, handleOf, now, onError } = deps;

  const outcomeOf = (shard: Shard, { jobId }: Placed, id: string | undefined): EnqueueOutcome => {
    if (id === undefined) return { kind: 'unconfirmed', id: jobId, handle: handleOf(jobId, shard) };
    return { kind: id === jobId ? 'accepted' : 'joined', id, handle: handleOf(id, shard) };
  };

  /** Looks up a job after a pipeline that broke off: a job that exists was accepted. */
  const lookFor = async (shard: Shard, placed: Placed): Promise<EnqueueOutcome> => {
    const status = await handleOf(placed.jobId, shard)
      .status()
      .catch(() => 'unknown' as const);
    return outcomeOf(shard, placed, status === 'unknown' ? undefined : placed.jobId);
  };

  const addOnce = async (
    shard: Shard,
    chunk: readonly Placed[],
  ): Promise<readonly EnqueueOutcome[]> => {
    let jobs: readonly Job[];
    try {
      jobs = await shard.signatures.queue.addBulk(
        chunk.map(({ data, jobOptions }) => ({ name: signatureJobName, data, opts: jobOptions })),
      );
    } catch (error) {
      onError(toError(error));
      return Promise.all(chunk.map((placed) => lookFor(shard, placed)));
    }
    return chunk.map((placed, index) => outcomeOf(shard, placed, jobs[index]?.id));
  };

  /** Whether it joined a job that is gone. Without an answer it counts as added. */
  const joinedNone = async (
    shard: Shard,
    placed: Placed,
    outcome: EnqueueOutcome | undefined,
  ): Promise<boolean> => {
    if (outcome?.kind !== 'joined') return false;
    try {
      return await giveUpIfGone(shard.signatures, outcome.id, placed.deduplicationId);
    } catch (error) {
      onError(toError(error));
      return false;
    }
  };

  const add = async (
    shard: Shard,
    chunk: readonly Placed[],
  ): Promise<readonly EnqueueOutcome[]> => {
    const outcomes = await addOnce(shard, chunk);
    const isToAdd = await Promise.all(
      chunk.map((placed, index) => joinedNone(shard, placed, outcomes[index])),
    );
    const left = chunk.filter((_, index) => isToAdd[index]);
    if (left.length === 0) return outcomes;
    const added = (await addOnce(shard, left)).values();
    return outcomes.map((outcome, index) =>
      isToAdd[index] ? (added.next().value ?? outcome) : outcome,
    );
  };

  return async (
    requests: readonly SignatureInput[],
    options: EnqueueOptions,
  ): Promise<readonly EnqueueOutcome[]> => {
    const outcomes: EnqueueOutcome[] = [];
    for (let start = 0; start < requests.length; start += chunkSize) {
      const byShard = new Map<number, Placed[]>();
      for (const [offset, request] of requests.slice(start, start + chunkSize).entries()) {
        const index = start + offset;
        const read = readInput(request);
        if (!read.ok) {
          outcomes[index] = { kind: 'refused', objection: read.objection };
          continue;
        }
        const placement = placeRequest(read.wire, options, shardCount, now());
        const placed = { ...placement, index, data: { MSS_SignatureReq: { ...read.wire } } };
        byShard.set(placement.shard, [...(byShard.get(placement.shard) ?? []), placed]);
      }
      await Promise.all(
        [...byShard].map(async ([index, chunk]) => {
          const added = await add(shardAt(index), chunk);
          for (const [position, outcome] of added.entries()) {
            const placed = chunk[position];
            if (placed !== undefined) outcomes[placed.index] = outcome;
          }
        }),
      );
    }
    return outcomes;
  };
};
