/** Processes: workflows that applications start, those of operators' charts, too. */
import type { Workflow } from '../../packages/engine/src/define.ts';
import { definePart } from '../../src/part/part.ts';
import { processCommands } from './commands/commands.ts';
import { processConfiguration } from './configuration.ts';
import type { OwnCharts } from './open-workflows.ts';
import { workflowQueueName } from './queue.ts';
import { createSignerLinks } from './tasks/links.ts';

/** @param charts Of the operator, in place of those that the configuration names. For tests. */
export const createProcesses = (charts?: readonly Workflow[]) => {
  let loading: Promise<OwnCharts> | undefined;
  const own: OwnCharts = async (...where) => {
    loading ??= import('./open-workflows.ts').then(({ createOwnCharts }) =>
      createOwnCharts(charts),
    );
    return (await loading)(...where);
  };
  return definePart({
    name: 'processes',
    configuration: processConfiguration,
    queues: [workflowQueueName],
    auditActions: ['workflow-cancel', 'workflow-again', 'workflow-event', 'workflow-replay'],
    areas: ['tasks'],
    readFiles: async (settings, directory) => {
      const loaded = await own(settings, directory);
      return loaded.ok
        ? undefined
        : `The workflows are not usable:\n  ${loaded.problems.join('\n  ')}`;
    },
    beforeStart: async (rooms) => (await import('./charts-at-start.ts')).claimCharts(rooms, own),
    describe: async () => (await import('./http/workflow-paths.ts')).describedWorkflows,
    openApi: async (rooms) => (await import('./api.ts')).openProcessApi(rooms, own),
    openWork: async (rooms) => (await import('./workers.ts')).openProcessWork(rooms, own),
    openLinks: createSignerLinks,
    openConsole: async (rooms) =>
      (await import('./console/console.ts')).openWorkflowConsole(rooms, own),
    commands: processCommands,
  });
};

export const processes = createProcesses();
