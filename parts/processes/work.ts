/** Processes and the mails to their signers, in a process with workers. */
import type { HostedWork, HostedWorkRooms, ServiceWorkflow } from '../workflows/index.ts';
import type { ProcessAddition } from './addition.ts';
import { createAdditionActivities } from './addition-activities.ts';
import type { ProcessShapes } from './configuration.ts';
import { createAttestActivity } from './evidence/attest-activity.ts';
import { createEvidenceMaker } from './evidence/create-evidence.ts';
import { processActivities } from './names.ts';
import { createNotices } from './notices.ts';
import { createProcessWorkflow, type ProcessEffects } from './stock-process.ts';
import { createTaskLinks } from './tasks/links.ts';
import { readMailTemplates } from './tasks/mail-templates.ts';
import { createMailLog, createSignerMails } from './tasks/signer-mail.ts';

/** @throws SettingFileError for mail files that are not usable. */
export const openProcessWork = async (
  rooms: HostedWorkRooms<ProcessShapes>,
  addition?: ProcessAddition,
): Promise<HostedWork> => {
  const { settings, engine, mailer, now } = rooms;
  const templates = settings.mail?.templates;
  const mails =
    mailer &&
    createSignerMails({
      engine,
      processWorkflow: () => stock,
      mailer,
      gate: rooms.mailGate,
      publicUrl: rooms.publicUrl,
      links: createTaskLinks(rooms.serviceKey),
      applicationName: rooms.nameOf,
      fillTemplate: templates === undefined ? undefined : readMailTemplates(templates),
      now,
      log: createMailLog(rooms.log),
    });
  const notices = createNotices(rooms.tellers);
  const effects: ProcessEffects = {
    ...notices,
    notify: async (notice, effect) => {
      await mails?.order(effect.address, effect.id, notice);
      await notices.notify(notice, effect);
    },
  };
  const stock: ServiceWorkflow = createProcessWorkflow({
    effects,
    addition: addition?.definition,
    check: await addition?.openCheck?.(rooms),
  });
  const createEvidence = createEvidenceMaker({
    issuer: settings.publicUrl ?? 'urn:paraph',
    custody: rooms.custody,
    upstreamTrust: rooms.trust,
    findOwn: async (apId, msspTransId) => {
      const view = await rooms.find(msspTransId);
      return view?.request.caller.apId === apId ? view : undefined;
    },
  });
  return {
    workflows: [stock, ...(mails === undefined ? [] : [mails.workflow])],
    activities: {
      [processActivities.attest]: createAttestActivity(createEvidence),
      ...createAdditionActivities(addition?.definition, await addition?.openWork(rooms)),
    },
  };
};
