/** Why an order leaves an instance out, for pages, the admin API and the command line. */
import type { WorkflowBulkKind, WorkflowPlan } from './workflow-bulk.ts';

const whatToDo =
  'Its author adds a transition for REPLAY, or the application starts a new instance (docs/operations/replay.md).';

/** Why failed instances do not run again, and what to do. */
export const noReplay = `These cannot run again: the chart has ended and takes no REPLAY. ${whatToDo}`;
export const noReplayOfOne = `It cannot run again: the chart has ended and takes no REPLAY. ${whatToDo}`;

const refusedBy: Readonly<Record<WorkflowBulkKind, string>> = {
  replay:
    'The chart has ended and takes no REPLAY: its author adds it, or the application starts a new instance (docs/operations/replay.md)',
  cancel: 'The chart takes no CANCEL in its state',
  send: 'The chart takes no such event in its state',
};

export const workflowRefusals = (
  kind: WorkflowBulkKind,
): Readonly<Record<keyof WorkflowPlan['refused'], string>> => ({
  undefined:
    'There is no definition of the workflow: the configuration names its file in workflows',
  refused: refusedBy[kind],
  invalid: 'The workflow takes no event with these members',
  role: 'Your role does not allow this',
  'not-failed': 'Not failed',
  'not-open': 'Not open any more',
  unknown: 'Not known any more',
});
