/**
 * Workflows in a process: opens what the workers run, and the routes of the API.
 */
import type { Workflow } from '../../packages/engine/src/define.ts';
import { createEngine, turnBusyTimeoutMs } from '../../packages/engine/src/engine.ts';
import type { WorkflowTellers } from '../../workers/workflow-work.ts';
import { createEvidenceMaker } from '../evidence/create-evidence.ts';
import { createWorkflowRoutes, type WorkflowRoutesOptions } from '../http/workflows.route.ts';
import type { Part, WorkerRooms } from '../part.ts';
import { createMailGate, createSendMail } from '../tasks/signer-mail.ts';
import type { Shard } from '../transactions/shards.ts';
import { checkNumbers } from '../workflows/check-definition.ts';
import {
  createProcessWorkflow,
  type ProcessEffects,
  processName,
} from '../workflows/stock-process.ts';
import { createWorkflows } from '../workflows/workflows.ts';
import type { Core } from './core.ts';
import { createSignerLinks, openMail, openSignerMails, type PublicUrl } from './signers.ts';

const nothing = async () => undefined;
/** The tellers when no part tells applications. */
const silence: WorkflowTellers = {
  effects: { notify: nothing, notifyProcess: nothing, tell: nothing },
  notifyEnd: nothing,
  callWebhook: async () => ({
    kind: 'refused',
    why: 'this service has no part that calls webhooks',
  }),
};

const openTellers = async (
  parts: readonly Part[],
  rooms: WorkerRooms,
): Promise<WorkflowTellers> => {
  const telling = parts.filter((part) => part.openTellers !== undefined);
  if (telling.length > 1) throw new Error('More than one part tells applications about workflows');
  return (await telling[0]?.openTellers?.(rooms)) ?? silence;
};

/** Opens the workflows that the workers run, with their effects. */
export const openWorkflowSide = async (core: Core, rooms: WorkerRooms, publicUrl: PublicUrl) => {
  const { configuration, now } = core;
  const { locate } = rooms;
  const mailer = openMail(core);
  const gate = createMailGate();
  const engine = createEngine(locate, now, turnBusyTimeoutMs);
  const processWorkflow = (): Workflow => stock;
  const mails = openSignerMails(core, { engine, processWorkflow, mailer, gate, publicUrl });
  const { effects: tellers, ...others } = await openTellers(core.parts, rooms);
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
    ...others,
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

/** Opens the routes of workflows in the API. */
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
