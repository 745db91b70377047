/** Workflows in the console: their list, pages and orders, and their jobs on the queue board. */
import { Hono } from 'hono';
import type { ConsoleEnvironment } from '../../../src/console/deps.ts';
import { counted } from '../../../src/console/pages/markup.ts';
import type { ConsolePart, Need } from '../../../src/console/part.ts';
import type { OperatorRooms } from '../../../src/part/rooms.ts';
import type { WorkflowShapes } from '../configuration.ts';
import { hiddenIn } from '../hosted.ts';
import { instanceFields } from '../instance-fields.ts';
import type { Workflows } from '../instances/workflows.ts';
import { type Host, workflowsIn } from '../open-workflows.ts';
import { workflowQueueName } from '../queue.ts';
import { createWorkflowBoard } from './board.ts';
import { readFlow } from './flow.ts';
import { workflowNotices } from './notices.ts';
import { createWorkflowBulk } from './workflow-bulk.ts';
import { workflowBulkFace } from './workflow-bulk-face.ts';
import { createWorkflowDetails } from './workflow-detail.ts';
import { createWorkflowOrderRoutes } from './workflow-orders.route.ts';
import { createWorkflowOrders } from './workflow-orders.ts';
import { createWorkflowRoutes } from './workflows.route.ts';

const target = 'workflows';

/** Failed instances are counted up to here, because each is read. */
const maxCounted = 200;

/** What failed instances there are, for the first lines of the overview. */
const failedNeeds = async (workflows: Pick<Workflows, 'list'>): Promise<readonly Need[]> => {
  let found = 0;
  let cursor: string | undefined;
  do {
    const limit = maxCounted - found;
    const page = await workflows.list({ status: ['failed'] }, { limit, cursor });
    found += page?.rows.length ?? 0;
    cursor = page?.cursor;
  } while (cursor !== undefined && found < maxCounted);
  if (found === 0) return [];
  const number =
    cursor === undefined ? counted(found, 'workflow') : `${maxCounted} workflows or more`;
  return [
    {
      kind: 'workflows-failed',
      count: found,
      text: `${number} ${found === 1 ? 'has' : 'have'} failed`,
      page: '/admin/workflows?status=failed',
    },
  ];
};

export const openWorkflowConsole = async (
  rooms: OperatorRooms<WorkflowShapes>,
  host: Host,
): Promise<ConsolePart> => {
  const { settings, directory, warn } = rooms;
  const charts = await host.own(settings, directory);
  // Charts that cannot be loaded here run in the service all the same; their contexts are not shown.
  if (!charts.ok) warn(`The workflows of the configuration are not usable: ${charts.problems[0]}`);
  const workflows = await workflowsIn(rooms, host.hosted, charts.ok ? charts.value : []);
  const hosted = (await Promise.all(host.hosted.map((each) => each.openConsole?.(rooms)))).filter(
    (each) => each !== undefined,
  );
  const isHidden = hiddenIn(host.hosted);
  return {
    routes: (core) => {
      const deps = { ...core, workflows, isHidden, hosted };
      const routes = new Hono<ConsoleEnvironment>();
      const details = createWorkflowDetails(deps);
      const orders = createWorkflowOrders(deps, details);
      routes.route('/', createWorkflowRoutes(deps, details, orders));
      for (const each of hosted) routes.route('/', each.routes(orders));
      routes.route('/', createWorkflowOrderRoutes(deps));
      return routes;
    },
    sections: [['workflows', '/admin/workflows', 'Workflows', 'viewer', 'Workflows']],
    notices: Object.assign({}, workflowNotices, ...hosted.map(({ notices }) => notices)),
    actions: Object.assign(
      {
        'workflow-cancel': { target },
        'workflow-event': { target },
        'workflow-replay': { target },
      },
      ...hosted.map(({ actions }) => actions),
    ),
    words: Object.assign(
      {
        'GET /workflows': 'List instances of workflows',
        'GET /workflows/failures': 'Count failed instances by workflow and reason',
        'GET /workflows/:id': 'Show an instance of a workflow',
        'POST /workflows/:id/cancel': 'Cancel an instance',
        'POST /workflows/:id/events': 'Send an event to an instance',
        'POST /workflows/:id/replay': 'Replay a failed instance',
        'POST /replays/workflows/plan': 'See what a bulk of workflows would do',
        'POST /replays/workflows': 'Replay, cancel or send an event to many instances',
      },
      ...hosted.map(({ words }) => words),
    ),
    lists: { workflows: instanceFields },
    bulk: [
      workflowBulkFace(createWorkflowBulk({ workflows, redis: rooms.redis, isHidden }), workflows),
    ],
    board: {
      [workflowQueueName]: createWorkflowBoard(host.hosted.flatMap(({ hidden = [] }) => hidden)),
    },
    needs: () => failedNeeds(workflows),
    flowOf: (id) => readFlow({ shards: rooms.shards, workflows, hosted }, id),
  };
};
