/**
 * What the index keeps, shard by shard, in the shard's own slot:
 *
 *     {prefix-n}:history-2              hash    `position`: generation in use and how far the events were read;
 *                                             `building`: the generation that a rebuild writes; `generations`: the last one;
 *                                             `left:g`: a generation that is to be removed; `swept`: when what is over was
 *                                             taken out last, milliseconds since the epoch
 *     {prefix-n}:history-2:lease        string  the process that follows the events, with an expiry
 *     {prefix-n}:history-2:rebuilding   string  the process that rebuilds, with an expiry
 *     {prefix-n}:history-2:changes      stream  ids that changed, a hundred entries, for pages that are live
 *
 * and of each generation `g`:
 *
 *     …:history-2:g:at                  hash    job id -> number of its row
 *     …:history-2:g:meta                hash    `next`: the number of the next row
 *     …:history-2:g:spans               hash    chunk -> least and greatest submittedAt of its rows
 *     …:history-2:g:facts:c, :names:c   string  a thousand rows each (packed-row.ts)
 *     …:history-2:g:minute:m            hash    what happened in that minute, for a day and an hour
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

export const shardKeys = (prefix: string, shard: number): ShardKeys => {
  const at = shardPrefix(prefix, shard);
  const state = `${at}:history-${layout}`;
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
