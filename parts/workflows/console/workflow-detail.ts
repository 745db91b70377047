/**
 * Reads an instance of a workflow for the console: the parts of its record, and its children.
 *
 * An access to the names and words of people is recorded in the audit log before they are shown,
 * once in a session.
 */

import type { Workflow } from '../../../packages/engine/src/define.ts';
import type { Instance } from '../../../packages/engine/src/engine.ts';
import type { JournalEntry, ReadJournal } from '../../../packages/engine/src/journal.ts';
import {
  addressOf,
  type ChartRecord,
  type ChildActor,
  type InstanceRecord,
  isActivity,
  pathOf,
} from '../../../packages/engine/src/record.ts';
import type { ConsoleSession } from '../../../src/console/deps.ts';
import { doneBy } from '../../../src/console/operators/audit.ts';
import type { Role } from '../../../src/console/operators/operator.ts';
import { seesPeople } from '../../../src/console/redaction.ts';
import type { HostedDetail } from '../hosted.ts';
import type { ListedInstance } from '../instance-fields.ts';
import type { Workflows, WorkflowView } from '../instances/workflows.ts';
import { createFindAsked } from './asked-transactions.ts';
import type { WorkflowConsoleDeps } from './deps.ts';
import { isReplayable } from './failures.ts';

export interface WorkflowRow extends Omit<WorkflowView, 'context' | 'output'> {
  /** The id of the instance, which the list and the pages use. */
  readonly instanceId: string;
  readonly apId: string;
}

export interface ShownChild {
  readonly id: string;
  readonly name: string;
  /** The name of its chart in the chart of the parent. */
  readonly src: string;
  readonly state: unknown;
  readonly status: 'open' | 'completed' | 'failed';
  /** The time at which its next timer is due, milliseconds since the epoch. */
  readonly nextAt?: number | undefined;
}

export interface WorkflowEvent {
  readonly at: number;
  readonly what: string;
  /** The step, or the name of a person. */
  readonly who?: string | undefined;
  /** The path of the child that has requested a transaction; absent for the instance itself. */
  readonly path?: string | undefined;
  readonly msspTransId?: string | undefined;
  /** The reason in a person's own words. */
  readonly reason?: string | undefined;
}

/** An instance, with what a part tells of one of its own (`told` in hosted.ts). */
export interface WorkflowDetail {
  /**
   * Whether the service has a definition of this workflow. Without one its jobs wait.
   */
  readonly isDefined: boolean;
  /** Whether it has failed, and its chart allows another run. */
  readonly mayReplay: boolean;
  readonly instance: WorkflowRow;
  /** The published context of the workflow, for operators only. */
  readonly context?: unknown;
  readonly children: readonly ShownChild[];
  /** The next timer of the instance and its children. */
  readonly next?: { readonly at: number; readonly name: string } | undefined;
  /** The events, oldest first. */
  readonly timeline: readonly WorkflowEvent[];
  /** The journal. Only operators see the messages of errors. */
  readonly journal: ReadJournal;
}

type Timer = NonNullable<InstanceRecord['timers']>[number];

/** A child chart of an instance. */
export interface Child {
  /** Its address. */
  readonly id: string;
  readonly name: string;
  readonly src: string;
  readonly chart: ChartRecord;
  readonly timers: InstanceRecord['timers'];
}

/** The name of a timer, from the event of an `after`: `deadline`. */
const timerName = ({ event: { type } }: Timer): string =>
  /^xstate\.after\.([^.]+)/.exec(type)?.[1] ?? type;

const firstTimer = ({ timers = [] }: Pick<InstanceRecord, 'timers'>): Timer | undefined =>
  timers.toSorted((one, other) => one.at - other.at)[0];

export const apIdOf = ({ data }: Instance): string => {
  const { apId } = Object(data) as { readonly apId?: unknown };
  return typeof apId === 'string' ? apId : '';
};

/** Returns undefined when `read` throws, because other programs may have written the record. */
const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** An instance as its application sees it, also when nobody can read its record. */
export const viewOf = (workflows: Pick<Workflows, 'view'>, instance: Instance): WorkflowView => {
  const view = attempt(() => workflows.view(instance));
  return view ?? workflows.view({ ...instance, record: undefined });
};

/** Hides the message of an error, which may quote a person. */
const hideMessage = (entry: JournalEntry): JournalEntry => {
  if (!('error' in entry) || entry.error === undefined) return entry;
  const { message: _, ...error } = entry.error;
  return { ...entry, error };
};

export const createWorkflowDetails = (
  deps: Pick<WorkflowConsoleDeps, 'workflows' | 'audit' | 'shards' | 'isHidden' | 'hosted'>,
) => {
  const { workflows, audit, isHidden } = deps;
  const findAsked = createFindAsked(deps);

  /** The events of signatures of an operator's chart. */
  const signaturesOf = async (
    instance: Instance,
    workflow: Workflow,
  ): Promise<readonly WorkflowEvent[]> => {
    const asked = await findAsked(instance, workflow);
    return asked.flatMap(({ msspTransId, state: who, path, askedAt, end }) => [
      { at: askedAt, what: 'Asked to sign', who, path, msspTransId },
      ...(end === undefined ? [] : [{ ...end, who, path, msspTransId }]),
    ]);
  };

  const rowOf = (instance: Instance, role: Role): WorkflowRow => {
    const { context: _, output: __, reason, ...view } = viewOf(workflows, instance);
    return {
      ...view,
      instanceId: instance.id,
      apId: apIdOf(instance),
      // The reason is a text of the person who has cancelled it.
      reason: seesPeople(role) ? reason : undefined,
    };
  };
  const workflowOf = ({
    name,
    version,
  }: Pick<WorkflowView, 'name' | 'version'>): Workflow | undefined => {
    const versions = workflows.versions(name);
    return versions.find(({ chart }) => chart.version === version) ?? versions[0];
  };

  const find = async (id: string): Promise<Instance | undefined> => {
    const instance = await workflows.findInstance(id);
    return instance && !isHidden(viewOf(workflows, instance).name) ? instance : undefined;
  };

  /** Child charts that have not ended. */
  const childrenOf = ({ id, record }: Instance): readonly Child[] =>
    Object.entries(record?.children ?? {}).flatMap(([name, child]) => {
      const { src, run, chart } = child as ChildActor;
      if (isActivity(child) || chart?.status !== 'active') return [];
      const timers = record?.timers?.filter(({ from }) => from === run);
      return [{ id: addressOf(id, pathOf('', name)), name, src, chart, timers }];
    });
  const shownChild = ({ id, name, src, chart, timers }: Child): ShownChild => ({
    id,
    name,
    src,
    state: chart.value,
    status: 'open',
    nextAt: firstTimer({ timers })?.at,
  });

  return {
    /** The rows of a page of the list. Instances that are gone are left out. */
    rows: async (
      listed: readonly ListedInstance[],
      role: Role,
    ): Promise<readonly WorkflowRow[]> => {
      const found = await Promise.all(listed.map(({ id }) => workflows.findInstance(id)));
      return found.flatMap((instance) => (instance === undefined ? [] : [rowOf(instance, role)]));
    },

    workflowOf,

    /** Finds an instance for an order. @param id The same as for `read`. */
    find: async (id: string, role: Role): Promise<WorkflowRow | undefined> => {
      const instance = await find(id);
      return instance && rowOf(instance, role);
    },

    /**
     * @param id The id of an instance, not of a child.
     * @returns `hosted`: what the part shows whose workflow it is.
     * @throws When the access cannot be recorded.
     */
    read: async (
      id: string,
      session: ConsoleSession,
    ): Promise<
      { readonly detail: WorkflowDetail; readonly hosted: HostedDetail | undefined } | undefined
    > => {
      const instance = await find(id);
      if (instance === undefined) return undefined;
      const { role } = session.operator;
      if (seesPeople(role)) {
        const entry = {
          ...doneBy(session.operator),
          action: 'view-sensitive',
          target: id,
        } as const;
        await audit.record(entry, `view:${session.id}:${id}`);
      }
      const view = viewOf(workflows, instance);
      const { record } = instance;
      const isSeen = seesPeople(role);
      const workflow = workflowOf(view);
      const children = childrenOf(instance);
      const details = await Promise.all(
        deps.hosted.map((each) => each.detailOf(instance, children, isSeen)),
      );
      const hosted = details.find((each) => each !== undefined);
      const signatures = workflow === undefined ? [] : await signaturesOf(instance, workflow);
      const next = record && firstTimer(record);
      const { createdAt, endedAt, status } = view;
      const timeline = [
        { at: createdAt, what: 'Started' },
        ...(hosted?.events ?? []),
        ...signatures,
        ...(endedAt === undefined ? [] : [{ at: endedAt, what: `Ended: ${status}` }]),
      ].toSorted((one, other) => one.at - other.at);
      const { entries, dropped } = await workflows.engine.journal(id);
      const detail = {
        instance: rowOf(instance, role),
        isDefined: workflow !== undefined,
        mayReplay: isReplayable(workflows, instance),
        ...hosted?.told,
        ...(isSeen && { context: view.context }),
        children: children.map(shownChild),
        next: next && { at: next.at, name: timerName(next) },
        journal: { entries: isSeen ? entries : entries.map(hideMessage), dropped },
        timeline: isSeen
          ? timeline
          : timeline.map(({ at, what, path, msspTransId }: WorkflowEvent) => ({
              at,
              what,
              path,
              msspTransId,
            })),
      };
      return { detail, hosted };
    },
  };
};

export type WorkflowDetails = ReturnType<typeof createWorkflowDetails>;
