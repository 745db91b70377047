/** An instance as the queue board lists it. */
import type { Job } from 'bullmq';
import { z } from 'zod';
import { readJobName } from '../../../packages/engine/src/define.ts';
import type { BoardQueue, ShownJob } from '../../../src/console/board/board-part.ts';
import { isInstanceOf, ownIdOf } from '../../../src/transactions/jobs/instance-ids.ts';
import { mailWorkflowName } from '../workflows/contract.ts';

/** The record of an instance of a workflow, without what applications and people have written. */
const recordSchema = z.object({ workflow: z.string(), version: z.number(), value: z.unknown() });

/** Neither input nor context: other programs and people have written them. */
const shownInstance = ({ id = '', name: jobName, data, progress }: Job): ShownJob => {
  const { version, value: state } = recordSchema.safeParse(progress).data ?? {};
  const { name, version: named } = readJobName(jobName);
  const apId = z.looseObject({ apId: z.string() }).safeParse(data).data?.apId;
  return {
    name: [apId, name, ownIdOf(id, name)].filter(Boolean).join(' · '),
    data: { apId, workflow: name, version: version ?? named, state },
  };
};

export const workflowBoard: BoardQueue = {
  // A mail has no page.
  pageOf: (id) =>
    isInstanceOf(id, mailWorkflowName)
      ? '/admin/workflows'
      : `/admin/workflows/${encodeURIComponent(id)}`,
  shown: shownInstance,
};
