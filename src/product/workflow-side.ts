/**
 * Workflows in a process: what the workers need to run them, and what the API needs to serve them.
 */
import type { Workflow } from '../../packages/engine/src/define.ts';
import { createEngine, spreadOver, turnBusyTimeoutMs } from '../../packages/engine/src/engine.ts';
import { createNotices } from '../../parts/processes/notices.ts';
import { silence, type Tellers } from '../outgoing/tellers.ts';
import { createEvidenceMaker } from '../../parts/processes/evidence/create-evidence.ts';
import { createWorkflowRoutes, type WorkflowRoutesOptions } from '../http/workflows.route.ts';
import type { Part, WorkerRooms } from '../part.ts';
import { createMailGate, createSendMail } from '../../parts/processes/tasks/signer-mail.ts';
import type { Shard } from '../transactions/shards.ts';
import { checkNumbers } from '../../parts/processes/workflows/check-definition.ts';
import {
  createProcessWorkflow,
  type ProcessEffects,
  processName,
} from '../../parts/processes/workflows/stock-process.ts';
import { createWorkflows } from '../../parts/processes/workflows/workflows.ts';
import type { Core } from './core.ts';
import { createSignerLinks, openMail, openSignerMails, type PublicUrl } from './signers.ts';

const openTellers = async (
  parts: readonly Part[],
  rooms: WorkerRooms,
): Promise<Tellers> => {
  const telling = parts.filter((part) => part.openTellers !== undefined);
  if (telling.length > 1) throw new Error('More than one part tells applications about workflows');
  return (await telling[0]?.openTellers?.(rooms)) ?? silence;
};

/** For the workers. */
export const openWorkflowSide = async (core: Core, rooms: WorkerRooms, publicUrl: PublicUrl) => {
  const { configuration, now } = core;
  const locate = spreadOver(
    rooms.shards.map(({ workflows }) => workflows.queue),
    core.blocking,
    now,
  );
  const mailer = openMail(core);
  const gate = createMailGate();
  const engine = createEngine(locate, now, turnBusyTimeoutMs);
  const processWorkflow = (): Workflow => stock;
  const mails = openSignerMails(core, { engine, processWorkflow, mailer, gate, publicUrl });
  const { tell, callWebhook } = await openTellers(core.parts, rooms);
  const { notifyEnd, ...tellers } = createNotices({ tell });
  const effects: ProcessEffects = {
    ...tellers,
    notify: async (notice, effect) => {
      await mails?.order(effect.address, effect.id, notice);
      await tellers.notify(notice, effect);
    },
  };
  const stock: Workflow = createProcessWorkflow({ effects });
  const custody = core.custodyOver(core.blocking);
  return {
    locate,
    workflows: [stock, ...(mails === undefined ? [] : [mails.workflow]), ...core.workflows],
    notifyEnd,
    callWebhook,
    sendMail: createSendMail(mailer, gate),
    createEvidence: createEvidenceMaker({
      issuer: configuration.publicUrl ?? 'urn:paraph',
      custody,
      upstreamTrust: core.services.trust,
      findOwn: async (apId, msspTransId) => {
        const view = await rooms.find(msspTransId);
        return view?.request.caller.apId === apId ? view : undefined;
      },
    }),
  };
};

/** For the API. */
export const openWorkflowRoutes = (
  core: Core,
  shards: readonly Shard[],
  publicUrl: PublicUrl,
  options: Omit<WorkflowRoutesOptions, 'workflows' | 'signerLink' | 'now'>,
) => {
  const { configuration, retention, subscribers, now } = core;
  const workflows = createWorkflows({
    shards,
    maxOpen: configuration.queue.maxOpen,
    now,
    check: async (name, input, at) =>
      name === processName ? checkNumbers(input, { now: at, find: subscribers.find }) : undefined,
    workflows: [createProcessWorkflow(), ...core.workflows],
    retention: { doneMs: retention.signedMs, failedMs: retention.failedMs },
  });
  const signerLink = createSignerLinks(core, publicUrl);
  return { workflows, ...createWorkflowRoutes({ ...options, workflows, signerLink, now }) };
};
