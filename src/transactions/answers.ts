import type { Decision } from './contract.ts';
import { shardOf } from './ids.ts';
import type { AnswerResult } from './job-home.ts';
import type { Shard } from './shards.ts';

/** @returns The shard that a transaction id names, or undefined for an id that was never issued here. */
export const shardFor = (shards: readonly Shard[], msspTransId: string): Shard | undefined => {
  const index = shardOf(msspTransId, shards.length);
  return index === undefined ? undefined : shards[index];
};

/** What a device, or an operator in its place, may answer. */
export type DeviceDecision = Extract<Decision, { kind: 'signature' | 'delivered' | 'fault' }>;

export type Answer = (
  msspTransId: string,
  attempt: number,
  decision: DeviceDecision,
) => Promise<AnswerResult>;

/** Brings answers to transactions, whichever shard they live on, and wakes them. */
export const createAnswer =
  (shards: readonly Shard[]): Answer =>
  async (msspTransId, attempt, decision) =>
    (await shardFor(shards, msspTransId)?.signatures.home.answer(msspTransId, attempt, decision)) ??
    'unknown';
