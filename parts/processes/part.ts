/** Signature processes: a workflow in which several people sign by a definition. */
import { definePart, type Part } from '../../src/part/part.ts';
import type { HostedWorkflows } from '../workflows/index.ts';
import type { ProcessAddition } from './addition.ts';
import { createProcessCommands, shownPeople } from './commands.ts';
import { type ProcessShapes, processConfiguration } from './configuration.ts';
import { mailWorkflowName, processActivities, processName } from './names.ts';
import { createSignerLinks } from './tasks/links.ts';
import { processWords } from './words.ts';

/** The signature process, and a mail to one of its signers. */
const hostedWith = (addition: ProcessAddition | undefined): HostedWorkflows<ProcessShapes> => ({
  names: [processName, mailWorkflowName],
  hidden: [mailWorkflowName],
  signs: processActivities.sign,
  words: processWords,
  open: async (rooms) => [
    (await import('./stock-process.ts')).createProcessWorkflow({
      addition: addition?.definition,
      check: await addition?.openCheck?.(rooms),
    }),
  ],
  openPresent: async ({ serviceKey, publicUrl }) => ({
    [processName]: (await import('./present.ts')).createPresent(
      createSignerLinks(serviceKey, publicUrl),
    ),
  }),
  openWork: async (rooms) => (await import('./work.ts')).openProcessWork(rooms, addition),
  openConsole: async (rooms) =>
    (await import('./console/console.ts')).createProcessConsole(
      await addition?.openConsole?.(rooms),
    ),
  shown: (detail) => {
    const people = shownPeople(detail);
    return people && [...people, ...(addition?.shown?.(detail) ?? [])];
  },
});

/** @param addition What another part brings. */
const createProcessPart = (addition?: ProcessAddition): Part<ProcessShapes> =>
  definePart({
    name: 'processes',
    needs: ['workflows'],
    brings: { workflows: hostedWith(addition) },
    receive: ([one, another]: readonly ProcessAddition[]) => {
      if (another !== undefined) throw new Error('More than one part adds to processes');
      return createProcessPart(one);
    },
    configuration: processConfiguration,
    auditActions: ['workflow-again'],
    areas: ['tasks'],
    openApi: async (rooms) => (await import('./api.ts')).openTaskPages(rooms, addition),
    openLinks: createSignerLinks,
    commands: createProcessCommands(addition?.definition),
  });

export const processes = createProcessPart();
