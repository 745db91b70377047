/** Workflows in a process: what the workers need to run them, and what the API needs to serve them. */
import { createCallWebhook } from '../callbacks/deliver.ts';
import { createPosts } from '../callbacks/post.ts';
import { createProcessNotices } from '../callbacks/process-notices.ts';
import type { Workflow } from '../engine/define.ts';
import { createEngine, spreadOver, turnBusyTimeoutMs } from '../engine/engine.ts';
import { createEvidenceMaker } from '../evidence/create-evidence.ts';
import { createWorkflowRoutes, type WorkflowRoutesOptions } from '../http/workflows.route.ts';
import { createMailGate, createSendMail } from '../tasks/signer-mail.ts';
import { createReadEnd } from '../transactions/outcomes.ts';
import type { Shard } from '../transactions/shards.ts';
import { createFind } from '../transactions/transactions.ts';
import { checkNumbers } from '../workflows/check-definition.ts';
import { createProcessWorkflow, type ProcessEffects, processName } from '../workflows/stock-process.ts';
import { createWorkflows } from '../workflows/workflows.ts';
import type { Core } from './core.ts';
import { createSignerLinks, openMail, openSignerMails, type PublicUrl } from './signers.ts';

/** For the workers. */
export const openWorkflowSide = (core: Core, shards: readonly Shard[], publicUrl: PublicUrl) => {
  const { configuration, blocking, protocol, retention, serviceKey, now, onError } = core;
  const locate = spreadOver(
    shards.map(({ workflows }) => workflows.queue),
    blocking,
    now,
  );
  const subscribed = configuration.applicationProviders.filter(({ callback }) => callback !== undefined);
  const mailer = openMail(core);
  const gate = createMailGate();
  const engine = createEngine(locate, now, turnBusyTimeoutMs);
  const signerWorkflow = (): Workflow | undefined => stock.children.signer;
  const mails = openSignerMails(core, { engine, signerWorkflow, mailer, gate, publicUrl });
  const callbacks = createProcessNotices({
    ...{ shards, locate, now },
    apIds: new Set(subscribed.map(({ id }) => id)),
  });
  const effects: ProcessEffects = {
    ...callbacks,
    notify: async (notice, effect) => {
      await mails?.order(effect.instance, effect.id, notice);
      await callbacks.notify(notice, effect);
    },
  };
  const stock: Workflow = createProcessWorkflow({ effects });
  const custody = core.custodyOver(blocking);
  const readEnd = createReadEnd({ custody, seals: core.seals, now, onError });
  const find = createFind({ shards, protocol, readEnd, retention, now });
  return {
    locate,
    workflows: [stock, ...(mails === undefined ? [] : [mails.workflow]), ...core.workflows],
    notifyEnd: callbacks.notifyEnd,
    sendMail: createSendMail(mailer, gate),
    callWebhook: createCallWebhook({
      ...{ providers: configuration.applicationProviders, serviceKey, now },
      ...createPosts({
        ...{ allowedHosts: configuration.operations.callbackHosts, sandbox: configuration.sandbox },
        ...{ now, readsAnswers: true },
      }),
    }),
    createEvidence: createEvidenceMaker({
      issuer: configuration.publicUrl ?? 'urn:paraph',
      custody,
      gatewayTrust: core.gateways.trust,
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
  publicUrl: PublicUrl,
  options: Omit<WorkflowRoutesOptions, 'workflows' | 'signerLink' | 'now'>,
) => {
  const { configuration, retention, subscribers, now } = core;
  const workflows = createWorkflows({
    ...{ shards, maxOpen: configuration.queue.maxOpen, now },
    check: async (name, input, at) =>
      name === processName ? checkNumbers(input, { now: at, find: subscribers.find }) : undefined,
    workflows: [createProcessWorkflow(), ...core.workflows],
    retention: { doneMs: retention.signedMs, failedMs: retention.failedMs },
  });
  const signerLink = createSignerLinks(core, publicUrl);
  return { workflows, ...createWorkflowRoutes({ ...options, workflows, signerLink, now }) };
};
