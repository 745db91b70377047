/** Workflows in a process with workers. */
import { createEngine, spreadOver, turnBusyTimeoutMs } from '../../packages/engine/src/engine.ts';
import type { BulkWork } from '../../src/console/operators/bulk-list.ts';
import type { BulkRooms, PartSettings, WorkRooms } from '../../src/part/rooms.ts';
import type { OpenWork } from '../../workers/workers.ts';
import { createMailGate, createSendMail } from './activities/mail-activity.ts';
import { createSignRoom } from './activities/sign-room.ts';
import { createWorkflowWork } from './activities/workflow-work.ts';
import { serviceActivities } from './charts/service-activities.ts';
import type { WorkflowShapes } from './configuration.ts';
import { createBulkWork } from './console/workflow-bulk.ts';
import { hiddenIn } from './hosted.ts';
import { type Mailer, openMailer } from './mail.ts';
import { isLocalMailServer } from './mail-settings.ts';
import { createWorkflowCounter } from './metrics.ts';
import { type Host, usable, workflowsIn } from './open-workflows.ts';
import { workflowsOf } from './queue.ts';

/** @throws SettingFileError for a password file that cannot be read. */
const openMail = ({ mail, sandbox }: PartSettings<WorkflowShapes>): Mailer | undefined =>
  mail && openMailer(mail, { plainAllowed: sandbox || isLocalMailServer(mail.url) });

/** What is done to instances in bulk. */
export const openWorkflowBulk = async (
  rooms: BulkRooms<WorkflowShapes>,
  { hosted, own }: Host,
): Promise<BulkWork> => {
  const charts = usable(await own(rooms.settings, rooms.directory));
  const workflows = await workflowsIn(rooms, hosted, charts);
  return createBulkWork({ workflows, redis: rooms.redis });
};

/** @throws SettingFileError for mail files that are not usable. */
export const openWorkflowWork = async (
  rooms: WorkRooms<WorkflowShapes>,
  { hosted, own }: Host,
): Promise<OpenWork> => {
  const { settings, shards, redis, backlog, maxBacklog, tellers, now } = rooms;
  const charts = usable(await own(settings, rooms.directory));
  const locate = spreadOver(
    shards.map((shard) => workflowsOf(shard).queue),
    redis,
    now,
  );
  const engine = createEngine(locate, now, turnBusyTimeoutMs);
  const mailer = openMail(settings);
  const mailGate = createMailGate();
  const forHosted = { ...rooms, engine, mailer, mailGate };
  const works = (await Promise.all(hosted.map((each) => each.openWork?.(forHosted)))).filter(
    (work) => work !== undefined,
  );
  const workflows = [...works.flatMap((work) => work.workflows), ...charts];
  return createWorkflowWork({
    ...rooms,
    engine,
    hosted,
    isHidden: hiddenIn(hosted),
    workflows,
    count: createWorkflowCounter(
      rooms.registry,
      workflows.map(({ chart }) => chart.name),
    ),
    activities: Object.assign(
      { [serviceActivities.sendMail]: createSendMail(mailer, mailGate) },
      ...works.map(({ activities }) => activities),
    ),
    tellers,
    room: createSignRoom(backlog, maxBacklog),
    authority: settings.protocol.authorities[0] ?? '',
    receiptSeconds: settings.receipt.timeoutSeconds,
  });
};
