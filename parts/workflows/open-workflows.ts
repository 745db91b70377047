/** Instances of workflows in a process of the service, and the charts of its operator. */
import type { Workflow } from '../../packages/engine/src/define.ts';
import type { PartSettings } from '../../src/part/rooms.ts';
import type { Shard } from '../../src/transactions/shards.ts';
import { loadCharts } from './charts/load.ts';
import type { WorkflowShapes } from './configuration.ts';
import {
  type HostedRooms,
  type HostedWorkflows,
  hiddenIn,
  type LoadedCharts,
  namesIn,
} from './hosted.ts';
import { asServiceWorkflow, createWorkflows, type Workflows } from './instances/workflows.ts';

/**
 * Loads the charts that the configuration names.
 *
 * @param directory What relative paths begin at; undefined where no files are read.
 */
export type OwnCharts = (
  settings: Pick<PartSettings<WorkflowShapes>, 'workflows'>,
  directory: string | undefined,
) => Promise<LoadedCharts>;

/** The workflows of a service: those of parts, and those of its operator. */
export interface Host {
  readonly hosted: readonly HostedWorkflows[];
  readonly own: OwnCharts;
}

/**
 * Each part of a start asks for the charts; they are loaded once for a configuration.
 *
 * @param given Charts that take the place of those in files.
 */
export const createOwnCharts = (
  hosted: readonly HostedWorkflows[],
  given?: readonly Workflow[],
): OwnCharts => {
  const load = async (files: readonly string[], directory?: string): Promise<LoadedCharts> => {
    const loaded: LoadedCharts =
      given === undefined && directory !== undefined
        ? await loadCharts(files, directory, { taken: namesIn(hosted) })
        : { ok: true, value: given ?? [] };
    return loaded.ok ? { ok: true, value: loaded.value.map(asServiceWorkflow) } : loaded;
  };
  const known = new WeakMap<
    readonly string[],
    { readonly directory: string | undefined; readonly charts: Promise<LoadedCharts> }
  >();
  return ({ workflows: files }, directory) => {
    const present = known.get(files);
    if (present?.directory === directory && present !== undefined) return present.charts;
    const charts = load(files, directory);
    known.set(files, { directory, charts });
    return charts;
  };
};

/** @throws For files that are not usable: the start has checked them. */
export const usable = (charts: LoadedCharts): readonly Workflow[] => {
  if (charts.ok) return charts.value;
  throw new Error(charts.problems.join('; '));
};

/** The instances of what parts bring, and of `charts`. */
export const workflowsIn = async (
  rooms: HostedRooms & {
    readonly shards: readonly Shard[];
    readonly retention: { readonly signedMs: number; readonly failedMs: number };
  },
  hosted: readonly HostedWorkflows[],
  charts: readonly Workflow[],
  limits: Pick<Parameters<typeof createWorkflows>[0], 'maxOpen' | 'find'> = {},
): Promise<Workflows> => {
  const { shards, retention, now } = rooms;
  return createWorkflows({
    ...limits,
    shards,
    now,
    workflows: [
      ...(await Promise.all(hosted.map((each) => each.open?.(rooms) ?? []))).flat(),
      ...charts,
    ],
    isHidden: hiddenIn(hosted),
    retention: { doneMs: retention.signedMs, failedMs: retention.failedMs },
  });
};
