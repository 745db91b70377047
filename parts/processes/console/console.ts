/** Workflows in the console: their list, pages and orders, and their jobs on the queue board. */
import { Hono } from 'hono';
import type { ConsoleEnvironment } from '../../../src/console/deps.ts';
import type { ConsolePart } from '../../../src/console/part.ts';
import type { OperatorRooms } from '../../../src/part/rooms.ts';
import type { ProcessShapes } from '../configuration.ts';
import { type OwnCharts, workflowsIn } from '../open-workflows.ts';
import { workflowQueueName } from '../queue.ts';
import { workflowBoard } from './board.ts';
import { readFlow } from './flow.ts';
import { workflowNotices } from './notices.ts';
import { createWorkflowOrderRoutes } from './workflow-orders.route.ts';
import { createWorkflowRoutes } from './workflows.route.ts';

const target = 'workflows';

export const openWorkflowConsole = async (
  rooms: OperatorRooms<ProcessShapes>,
  own: OwnCharts,
): Promise<ConsolePart> => {
  const { settings, directory, warn } = rooms;
  const charts = await own(settings, directory);
  // Charts that cannot be loaded here run in the service all the same; their contexts are not shown.
  if (!charts.ok) warn(`The workflows of the configuration are not usable: ${charts.problems[0]}`);
  const workflows = workflowsIn(rooms, charts.ok ? charts.value : []);
  return {
    routes: (deps) => {
      const routes = new Hono<ConsoleEnvironment>();
      routes.route('/', createWorkflowRoutes({ ...deps, workflows }));
      routes.route('/', createWorkflowOrderRoutes({ ...deps, workflows }));
      return routes;
    },
    sections: [['workflows', '/admin/workflows', 'Workflows', 'viewer', 'Workflows']],
    notices: workflowNotices,
    actions: {
      'workflow-cancel': { target },
      'workflow-again': { target },
      'workflow-event': { target },
      'workflow-replay': { target },
    },
    words: {
      'GET /workflows': 'List instances of workflows',
      'GET /workflows/:id': 'Show an instance of a workflow',
      'POST /workflows/:id/cancel': 'Cancel an instance',
      'POST /workflows/:id/again': 'Ask a signer of a process once more',
      'POST /workflows/:id/events': 'Send an event to an instance',
      'POST /workflows/:id/replay': 'Replay a failed instance',
    },
    board: { [workflowQueueName]: workflowBoard },
    flowOf: (id) => readFlow({ shards: rooms.shards, workflows }, id),
  };
};
