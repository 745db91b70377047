/** Processes and charts of the operator in a process with workers. */
import type { Workflow } from '../../packages/engine/src/define.ts';
import { createEngine, spreadOver, turnBusyTimeoutMs } from '../../packages/engine/src/engine.ts';
import type { PartSettings, WorkRooms } from '../../src/part/rooms.ts';
import type { OpenWork } from '../../workers/workers.ts';
import { createSignRoom } from './activities/sign-room.ts';
import { createWorkflowWork } from './activities/workflow-work.ts';
import type { ProcessShapes } from './configuration.ts';
import { createEvidenceMaker } from './evidence/create-evidence.ts';
import { type Mailer, openMailer } from './mail.ts';
import { isLocalMailServer } from './mail-settings.ts';
import { createWorkflowCounter } from './metrics.ts';
import { createNotices } from './notices.ts';
import { type OwnCharts, usable } from './open-workflows.ts';
import { workflowsOf } from './queue.ts';
import { createTaskLinks } from './tasks/links.ts';
import { readMailTemplates } from './tasks/mail-templates.ts';
import {
  createMailGate,
  createMailLog,
  createSendMail,
  createSignerMails,
} from './tasks/signer-mail.ts';
import { createProcessWorkflow, type ProcessEffects } from './workflows/stock-process.ts';

/** @throws SettingFileError for a password file that cannot be read. */
const openMail = ({ mail, sandbox }: PartSettings<ProcessShapes>): Mailer | undefined =>
  mail && openMailer(mail, { plainAllowed: sandbox || isLocalMailServer(mail.url) });

/** @throws SettingFileError for mail files that are not usable. */
export const openProcessWork = async (
  rooms: WorkRooms<ProcessShapes>,
  own: OwnCharts,
): Promise<OpenWork> => {
  const { settings, shards, redis, serviceKey, backlog, maxBacklog, tellers, now } = rooms;
  const charts = usable(await own(settings, rooms.directory));
  const locate = spreadOver(
    shards.map((shard) => workflowsOf(shard).queue),
    redis,
    now,
  );
  const engine = createEngine(locate, now, turnBusyTimeoutMs);
  const mailer = openMail(settings);
  const templates = settings.mail?.templates;
  const gate = createMailGate();
  const mails =
    mailer &&
    createSignerMails({
      engine,
      processWorkflow: (): Workflow => stock,
      mailer,
      gate,
      publicUrl: rooms.publicUrl,
      links: createTaskLinks(serviceKey),
      applicationName: rooms.nameOf,
      fillTemplate: templates === undefined ? undefined : readMailTemplates(templates),
      now,
      log: createMailLog(rooms.log),
    });
  const { notifyEnd, ...notices } = createNotices(tellers);
  const effects: ProcessEffects = {
    ...notices,
    notify: async (notice, effect) => {
      await mails?.order(effect.address, effect.id, notice);
      await notices.notify(notice, effect);
    },
  };
  const stock: Workflow = createProcessWorkflow({ effects });
  const workflows = [stock, ...(mails === undefined ? [] : [mails.workflow]), ...charts];
  return createWorkflowWork({
    ...rooms,
    engine,
    workflows,
    notifyEnd,
    count: createWorkflowCounter(
      rooms.registry,
      workflows.map(({ chart }) => chart.name),
    ),
    callWebhook: tellers.callWebhook,
    sendMail: createSendMail(mailer, gate),
    createEvidence: createEvidenceMaker({
      issuer: settings.publicUrl ?? 'urn:paraph',
      custody: rooms.custody,
      upstreamTrust: rooms.trust,
      findOwn: async (apId, msspTransId) => {
        const view = await rooms.find(msspTransId);
        return view?.request.caller.apId === apId ? view : undefined;
      },
    }),
    room: createSignRoom(backlog, maxBacklog),
    authority: settings.protocol.authorities[0] ?? '',
    receiptSeconds: settings.receipt.timeoutSeconds,
  });
};
