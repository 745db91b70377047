/**
 * Names of what the index keeps, shard by shard, in the shard's own slot; docs/storage.md lists it. What is not of a generation
 * outlasts it; a generation has its own rows and minutes.
 */
import { receiptQueueName, shardPrefix, signatureQueueName } from '../transactions/contract.ts';
import { layout } from './packed-row.ts';

export interface ShardKeys {
  readonly state: string;
  readonly lease: string;
  readonly rebuilding: string;
  readonly changes: string;
  /** A key of the queue `signatures`, or of a job in it. */
  signatures(name: string): string;
  receipts(name: string): string;
  generation(number: number): GenerationKeys;
}

export interface GenerationKeys {
  readonly base: string;
  readonly at: string;
  readonly meta: string;
  readonly spans: string;
  facts(chunk: number): string;
  names(chunk: number): string;
  /** Of a minute since the epoch; empty for what all begin with. */
  minute(minute: number | ''): string;
}

const generationKeys = (base: string): GenerationKeys => ({
  base,
  at: `${base}:at`,
  meta: `${base}:meta`,
  spans: `${base}:spans`,
  facts: (chunk) => `${base}:facts:${chunk}`,
  names: (chunk) => `${base}:names:${chunk}`,
  minute: (minute) => `${base}:minute:${minute}`,
});

/** @param ofLayout Names are the same in every layout so far. */
export const shardKeys = (prefix: string, shard: number, ofLayout = layout): ShardKeys => {
  const at = shardPrefix(prefix, shard);
  const state = `${at}:history-${ofLayout}`;
  return {
    state,
    lease: `${state}:lease`,
    rebuilding: `${state}:rebuilding`,
    changes: `${state}:changes`,
    signatures: (name) => `${at}:${signatureQueueName}:${name}`,
    receipts: (name) => `${at}:${receiptQueueName}:${name}`,
    generation: (number) => generationKeys(`${state}:${number}`),
  };
};
