/** Signature processes: a workflow in which several people sign by a definition. */
import { definePart } from '../../src/part/part.ts';
import type { HostedWorkflows } from '../workflows/index.ts';
import { processCommands, shownPeople } from './commands.ts';
import { type ProcessShapes, processConfiguration } from './configuration.ts';
import { mailWorkflowName, processActivities, processName } from './names.ts';
import { createSignerLinks } from './tasks/links.ts';
import { processWords } from './words.ts';

/** The signature process, and a mail to one of its signers. */
const hosted: HostedWorkflows<ProcessShapes> = {
  names: [processName, mailWorkflowName],
  hidden: [mailWorkflowName],
  signs: processActivities.sign,
  words: processWords,
  open: async () => [(await import('./stock-process.ts')).createProcessWorkflow()],
  openPresent: async ({ serviceKey, publicUrl }) => ({
    [processName]: (await import('./present.ts')).createPresent(
      createSignerLinks(serviceKey, publicUrl),
    ),
  }),
  openWork: async (rooms) => (await import('./work.ts')).openProcessWork(rooms),
  openConsole: async () => (await import('./console/console.ts')).processConsole,
  shown: shownPeople,
};

export const processes = definePart({
  name: 'processes',
  needs: ['workflows'],
  brings: { workflows: hosted },
  configuration: processConfiguration,
  auditActions: ['workflow-again'],
  areas: ['tasks'],
  openApi: async (rooms) => (await import('./api.ts')).openTaskPages(rooms),
  openLinks: createSignerLinks,
  commands: processCommands,
});
