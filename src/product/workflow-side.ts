/** Workflows in a process: what the workers need to run them, and what the API needs to serve them. */
import { createProcessNotices } from '../callbacks/process-notices.ts';
import { spreadOver } from '../engine/engine.ts';
import { createEvidenceMaker } from '../evidence/create-evidence.ts';
import { createWorkflowRoutes, type WorkflowRoutesOptions } from '../http/workflows.route.ts';
import { createReadEnd } from '../transactions/outcomes.ts';
import type { Shard } from '../transactions/shards.ts';
import { createFind } from '../transactions/transactions.ts';
import { createProcessWorkflow } from '../workflows/stock-process.ts';
import { createWorkflows } from '../workflows/workflows.ts';
import type { Core } from './core.ts';

const isKnownIn =
  ({ subscribers }: Core) =>
  (msisdn: string): boolean =>
    subscribers.find(msisdn) !== undefined;

/** For the workers. */
export const openWorkflowSide = (core: Core, shards: readonly Shard[]) => {
  const { configuration, blocking, protocol, retention, now, onError } = core;
  const locate = spreadOver(
    shards.map(({ workflows }) => workflows.queue),
    blocking,
    now,
  );
  const subscribed = configuration.applicationProviders.filter(({ callback }) => callback !== undefined);
  const effects = createProcessNotices({
    ...{ shards, locate, now },
    apIds: new Set(subscribed.map(({ id }) => id)),
  });
  const custody = core.custodyOver(blocking);
  const readEnd = createReadEnd({ custody, seals: core.seals, now, onError });
  const find = createFind({ shards, protocol, readEnd, retention, now });
  return {
    locate,
    workflows: [createProcessWorkflow({ isKnown: isKnownIn(core), effects }), ...core.workflows],
    createEvidence: createEvidenceMaker({
      issuer: configuration.publicUrl ?? 'urn:paraph',
      custody,
      findOwn: async (apId, msspTransId) => {
        const view = await find(msspTransId);
        return view?.request.caller.apId === apId ? view : undefined;
      },
    }),
  };
};

/** For the API. */
export const openWorkflowRoutes = (
  core: Core,
  shards: readonly Shard[],
  options: Omit<WorkflowRoutesOptions, 'workflows' | 'now'>,
) => {
  const { retention, now } = core;
  const workflows = createWorkflows({
    ...{ shards, now },
    workflows: [createProcessWorkflow({ isKnown: isKnownIn(core) }), ...core.workflows],
    retention: { doneMs: retention.signedMs, failedMs: retention.failedMs },
  });
  return { workflows, ...createWorkflowRoutes({ ...options, workflows, now }) };
};
