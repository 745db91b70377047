/** An instance as the queue board lists it. */
import type { Job } from 'bullmq';
import { z } from 'zod';
import { readJobName } from '../../../packages/engine/src/define.ts';
import type { BoardQueue, ShownJob } from '../../../src/console/board/board-part.ts';
import { isInstanceOf, ownIdOf } from '../../../src/transactions/jobs/instance-ids.ts';

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

/** @param hidden Workflows whose instances have no page. */
export const createWorkflowBoard = (hidden: readonly string[]): BoardQueue => ({
  pageOf: (id) =>
    hidden.some((name) => isInstanceOf(id, name))
      ? '/admin/workflows'
      : `/admin/workflows/${encodeURIComponent(id)}`,
  shown: shownInstance,
});
