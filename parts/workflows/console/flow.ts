/**
 * Finds parents and children of a job, for the queue board: instances of workflows, and the
 * transactions that they have requested.
 *
 * BullMQ's own parents are not used, because a parent of BullMQ waits until its children have
 * ended, and an instance goes on meanwhile. Only stored data is shown: the record of an instance
 * names the open activities, and the job of a transaction has the token of the activity that waits
 * for it. So a job that is gone is not shown.
 */
import type { Queue } from 'bullmq';
import { readToken, tokenOf } from '../../../packages/engine/src/activities.ts';
import { readJobName } from '../../../packages/engine/src/define.ts';
import type { Instance } from '../../../packages/engine/src/engine.ts';
import { activitiesIn } from '../../../packages/engine/src/record.ts';
import { type Flow, type FlowNode, queuePrefix } from '../../../src/console/board/board-part.ts';
import { transactionOfRun } from '../../../src/transactions/ids.ts';
import { type Shard, shardFor } from '../../../src/transactions/shards.ts';
import { workflowsOf } from '../queue.ts';
import type { WorkflowConsoleDeps } from './deps.ts';

type FlowDeps = Pick<WorkflowConsoleDeps, 'shards' | 'workflows' | 'hosted'>;

/** Jobs that are read for one flow. */
const maxNodes = 500;

const workflowsAt = (shards: readonly Shard[], queue: Queue): string => {
  const index = shards.findIndex(
    (shard) => workflowsOf(shard).queue.qualifiedName === queue.qualifiedName,
  );
  return `${queuePrefix(shards, index)}${queue.name}`;
};

/** The page of an instance on the board. */
export const boardPathOf = (
  { shards, workflows }: Pick<FlowDeps, 'shards' | 'workflows'>,
  id: string,
): string =>
  `/admin/queues/queue/${workflowsAt(shards, workflows.locate(id).queue)}/${encodeURIComponent(id)}`;

/** @param nodeId The id of a transaction, of an instance, or of a child of an instance. */
export const readFlow = async (
  { shards, workflows, hosted }: FlowDeps,
  nodeId: string,
): Promise<Flow> => {
  /** Nodes by id; undefined for a job that is gone. */
  const nodes = new Map<string, FlowNode | undefined>();
  const found: Instance[] = [];
  let root: FlowNode | undefined;

  const add = (
    node: Omit<FlowNode, 'children' | 'progress'>,
    parent: FlowNode | undefined,
  ): FlowNode => {
    const added: FlowNode = { ...node, progress: 0, children: [] };
    nodes.set(node.id, added);
    root ??= added;
    parent?.children.push(added);
    return added;
  };

  const addInstance = async (id: string): Promise<FlowNode | undefined> => {
    if (nodes.has(id) || nodes.size >= maxNodes) return nodes.get(id);
    nodes.set(id, undefined);
    const instance = await workflows.findInstance(id);
    if (instance === undefined) return undefined;
    const { queue } = workflows.locate(id);
    const { name } = readJobName(instance.jobName);
    found.push(instance);
    return add(
      { id, name, state: await queue.getJobState(id), queueName: workflowsAt(shards, queue) },
      undefined,
    );
  };

  const addTransaction = async (id: string): Promise<void> => {
    const shard = shardFor(shards, id);
    if (nodes.has(id) || nodes.size >= maxNodes || shard === undefined) return;
    nodes.set(id, undefined);
    const { queue, jobs } = shard.signatures;
    const { answerTo } = Object((await jobs.read(id))?.data) as { readonly answerTo?: unknown };
    // Other programs can write any token into their jobs.
    const isOfRun =
      typeof answerTo === 'string' && transactionOfRun(answerTo, shards.length) === id;
    const asker = isOfRun ? readToken(answerTo) : undefined;
    if (asker === undefined) return;
    const parent = await addInstance(asker.instance);
    const queueName = `${queuePrefix(shards, shard.index)}${queue.name}`;
    add({ id, name: 'signature', state: await queue.getJobState(id), queueName }, parent);
  };

  await (shardFor(shards, nodeId) === undefined ? addInstance(nodeId) : addTransaction(nodeId));
  // The loop itself makes the list grow.
  for (const instance of found) {
    for (const [path, { run }] of activitiesIn(instance.record))
      await addTransaction(transactionOfRun(tokenOf(instance, path, run), shards.length));
    for (const transaction of hosted.flatMap((each) => each.keptBy(instance)))
      await addTransaction(transaction);
  }
  for (const node of nodes.values())
    node?.children.sort((one, other) => one.id.localeCompare(other.id));
  const flowRoot = root !== undefined && root.children.length > 0 ? root : null;
  return { nodeId, isFlowNode: flowRoot !== null, flowRoot };
};
