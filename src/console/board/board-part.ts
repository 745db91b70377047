/** What a part brings to the queue board. */
import type { Job } from 'bullmq';
import type { Shard } from '../../transactions/shards.ts';

/** What the board lists of a job. `data` has members of an allow list only. */
export interface ShownJob {
  readonly name?: string;
  readonly data: object;
}

/** What the queue board needs to show the jobs of one queue of a part. */
export interface BoardQueue {
  /** The page of a job in the console. Default: that of the transaction after which it is named. */
  pageOf?(id: string): string;
  /** What is shown of a job. Default: what other jobs about a transaction show. */
  shown?(job: Job): ShownJob;
}

/** A job of a flow in the format that the page of the board reads. */
export interface FlowNode {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly queueName: string;
  readonly progress: 0;
  readonly children: FlowNode[];
}

/** A job with its parents and children. */
export interface Flow {
  readonly nodeId: string;
  readonly isFlowNode: boolean;
  readonly flowRoot: FlowNode | null;
}

/** What the board puts before a queue's name: the number of the shard, if there are several. */
export const queuePrefix = (shards: readonly Shard[], index: number): string =>
  shards.length > 1 ? `${index}-` : '';

/** The page of the transaction after which a job is named. */
export const transactionPageOf = (id: string): string =>
  `/admin/transactions/${encodeURIComponent(id.split('-', 1)[0] ?? '')}`;
