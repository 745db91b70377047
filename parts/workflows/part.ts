/** Workflows: instances of charts that applications start, over HTTP or through the queue. */
import type { Workflow } from '../../packages/engine/src/define.ts';
import { definePart, type Part } from '../../src/part/part.ts';
import { workflowCommands } from './commands.ts';
import { type WorkflowShapes, workflowConfiguration } from './configuration.ts';
import type { HostedWorkflows } from './hosted.ts';
import type { Host, OwnCharts } from './open-workflows.ts';
import { workflowQueueName } from './queue.ts';

/**
 * @param charts Of the operator, in place of those that the configuration names. For tests.
 * @param hosted What other parts bring.
 */
export const createWorkflowPart = (
  charts?: readonly Workflow[],
  hosted: readonly HostedWorkflows[] = [],
): Part<WorkflowShapes> => {
  let loading: Promise<OwnCharts> | undefined;
  const host: Host = {
    hosted,
    own: async (...where) => {
      loading ??= import('./open-workflows.ts').then(({ createOwnCharts }) =>
        createOwnCharts(hosted, charts),
      );
      return (await loading)(...where);
    },
  };
  return definePart({
    name: 'workflows',
    configuration: workflowConfiguration,
    receive: (brought: readonly HostedWorkflows[]) => createWorkflowPart(charts, brought),
    queues: [workflowQueueName],
    auditActions: ['workflow-cancel', 'workflow-event', 'workflow-replay'],
    readFiles: async (settings, directory) => {
      const loaded = await host.own(settings, directory);
      return loaded.ok
        ? undefined
        : `The workflows are not usable:\n  ${loaded.problems.join('\n  ')}`;
    },
    beforeStart: async (rooms) =>
      (await import('./charts/charts-at-start.ts')).claimCharts(rooms, host),
    describe: async () =>
      (await import('./http/workflow-paths.ts')).describeWorkflows(
        hosted.flatMap(({ words = [] }) => words),
      ),
    openApi: async (rooms) => (await import('./api.ts')).openWorkflowApi(rooms, host),
    openWork: async (rooms) => (await import('./workers.ts')).openWorkflowWork(rooms, host),
    openBulk: async (rooms) => (await import('./workers.ts')).openWorkflowBulk(rooms, host),
    openConsole: async (rooms) =>
      (await import('./console/console.ts')).openWorkflowConsole(rooms, host),
    commands: workflowCommands(hosted),
  });
};

export const workflows = createWorkflowPart();
