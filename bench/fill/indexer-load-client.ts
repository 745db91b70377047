/** The parent's side of the indexer: when it runs, and whether it has caught up. */
import { startProgram } from '../harness/program.ts';

const dayMs = 86_400_000;

/** The service whose index it is, with the retention that is the default. */
export const indexedService = {
  prefix: 'paraph',
  shards: 1,
  retention: { signedMs: 7 * dayMs, failedMs: 30 * dayMs },
} as const;

/** `start` and `idle` are answered when the index has caught up. */
export interface IndexerQuestion {
  readonly kind: 'start' | 'idle' | 'stop';
  readonly redisUrl: string;
}

export const startIndexerProgram = () =>
  startProgram<IndexerQuestion, undefined>('bench/fill/indexer-load.ts');
