/**
 * Counts how instances of workflows end, and tries of their activities that fail. How many there are
 * is read from the queue (telemetry/queue-metrics.ts).
 */
import type { OnError } from '../../packages/engine/src/take-job.ts';
import { createLabel } from '../../src/telemetry/labels.ts';
import { counter, type Registry } from '../../src/telemetry/registry.ts';
import { statuses, type WorkflowStatus } from './instances/contract.ts';

export interface WorkflowCounter {
  /** An end may count twice when its worker dies before the end of the job. */
  ended(workflow: string, status: WorkflowStatus): void;
  /** Counts the error of a try of an activity. Ignores other errors. */
  readonly failed: OnError;
}

/** @param workflows The names of those that run. Another program may add a job of any name. */
export const createWorkflowCounter = (
  registry: Registry,
  workflows: readonly string[],
): WorkflowCounter => {
  const ends = counter(
    registry,
    'workflow_ends_total',
    'Instances of workflows that ended: completed, failed, cancelled.',
    ['workflow', 'status'],
  );
  const failures = counter(
    registry,
    'activity_failures_total',
    'Tries of activities of workflows that failed; most are followed by another.',
    ['workflow', 'activity'],
  );
  const nameOf = createLabel(workflows);
  // Begin at 0, so that the first failed instance is an increase.
  for (const workflow of workflows)
    for (const status of statuses.filter((each) => each !== 'open'))
      ends.inc({ workflow: nameOf(workflow), status }, 0);
  return {
    ended: (workflow, status) => ends.inc({ workflow: nameOf(workflow), status }),
    failed: (_error, place) => {
      // Only charts that run have activities, so their names are few.
      if (place?.activity === undefined) return;
      failures.inc({ workflow: nameOf(place.workflow), activity: place.activity });
    },
  };
};
