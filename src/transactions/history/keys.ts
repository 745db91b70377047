/**
 * Names of the index's keys, shard by shard, in the shard's own slot (docs/storage.md). Rows and
 * minutes belong to a generation; the other keys outlast it.
 */
import { receiptQueueName, shardPrefix, signatureQueueName } from '../contract.ts';
import { layout } from './packed-row.ts';

export const generationKeys = (base: string) => ({
  base,
  at: `${base}:at`,
  meta: `${base}:meta`,
  spans: `${base}:spans`,
  facts: (chunk: number): string => `${base}:facts:${chunk}`,
  names: (chunk: number): string => `${base}:names:${chunk}`,
});

export type GenerationKeys = ReturnType<typeof generationKeys>;

export const shardKeys = (prefix: string, shard: number) => {
  const at = shardPrefix(prefix, shard);
  const state = `${at}:history-${layout}`;
  return {
    state,
    lease: `${state}:lease`,
    rebuilding: `${state}:rebuilding`,
    changes: `${state}:changes`,
    /** A key of the queue `signatures`, or of a job in it. */
    signatures: (name: string): string => `${at}:${signatureQueueName}:${name}`,
    receipts: (name: string): string => `${at}:${receiptQueueName}:${name}`,
    generation: (number: number) => generationKeys(`${state}:${number}`),
  };
};

export type ShardKeys = ReturnType<typeof shardKeys>;
