/**
 * Holds each version of an operator's chart to one content, whose hash Redis keeps. A start with
 * another content under the same version is refused while instances need the former chart: they
 * would fail at their next event. Once none does, the new chart takes its place.
 *
 * Processes with the same charts may come and go in any order, so a roll-out that raises the
 * version needs nothing else. One that changes a chart under its version is refused as soon as
 * there are instances; before that, stop the processes with the former chart first.
 */
import type { Workflow } from '../../../packages/engine/src/define.ts';
import { toError } from '../../../packages/engine/src/redis/to-error.ts';
import type { StartRooms } from '../../../src/part/rooms.ts';
import { closeShards } from '../../../src/transactions/shards.ts';
import type { WorkflowShapes } from '../configuration.ts';
import type { Workflows } from '../instances/workflows.ts';
import { type Host, usable, workflowsIn } from '../open-workflows.ts';
import { hashOfChart, isAnotherChart } from './chart-hash.ts';

const rowsAtOnce = 200;

/** Whether an instance of this version may get an event, or a replay. */
const isNeeded = async (workflows: Workflows, { chart }: Workflow): Promise<boolean> => {
  for (const status of ['open', 'failed'] as const) {
    for (
      let cursor: string | undefined, isFirst = true;
      isFirst || cursor !== undefined;
      isFirst = false
    ) {
      const page = await workflows.list(
        { name: chart.name, status: [status] },
        { limit: rowsAtOnce, cursor },
      );
      const found = await Promise.all(
        (page?.rows ?? []).map(({ id }) => workflows.findInstance(id)),
      );
      const isOne = found.some(
        (each) =>
          each?.record?.version === chart.version &&
          (each.ended === 'no' || (each.ended === 'failed' && workflows.mayReplay(each))),
      );
      if (isOne) return true;
      cursor = page?.cursor;
    }
  }
  return false;
};

/** @returns What is wrong, for a chart that is not the one of its version. */
export const claimCharts = async (
  rooms: StartRooms<WorkflowShapes>,
  { hosted, own: charts }: Host,
): Promise<string | undefined> => {
  const { redis, prefix, onError } = rooms;
  const own = usable(await charts(rooms.settings, rooms.directory));
  if (own.length === 0) return undefined;
  const key = `${prefix}:charts`;
  const fieldOf = ({ chart: { name, version } }: Workflow): string => `${name}@${version}`;
  const read = async (): Promise<readonly (string | null)[]> =>
    redis.hmget(key, ...own.map(fieldOf));
  const changedIn = (known: readonly (string | null)[]): readonly Workflow[] =>
    own.filter((workflow, index) =>
      isAnotherChart(known[index] ?? hashOfChart(workflow), hashOfChart(workflow)),
    );

  let known = await read();
  try {
    for (const [index, workflow] of own.entries())
      if (known[index] === null) await redis.hsetnx(key, fieldOf(workflow), hashOfChart(workflow));
    // Another process may have come first.
    known = await read();
  } catch (error) {
    // A full Redis refuses the write. The next start makes it.
    onError(toError(error));
  }
  const changed = changedIn(known);
  if (changed.length === 0) return undefined;
  const shards = rooms.openShards();
  try {
    const workflows = await workflowsIn({ ...rooms, shards }, hosted, own);
    for (const workflow of changed) {
      const { name, version } = workflow.chart;
      if (await isNeeded(workflows, workflow)) {
        return `workflows: the chart ${name} of version ${version} was changed, and instances that began in it are open or can be replayed. Raise the version of the changed chart, and export the former one beside it until they have ended.`;
      }
      await redis.hset(key, fieldOf(workflow), hashOfChart(workflow));
    }
    return undefined;
  } finally {
    await closeShards(shards);
  }
};
