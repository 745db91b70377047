/** The pages of signers, in a process with the API. */
import { createEngine, spreadOver } from '../../packages/engine/src/engine.ts';
import type { ApiPart } from '../../src/part/opened.ts';
import type { ApiRooms } from '../../src/part/rooms.ts';
import { workflowsOf } from '../workflows/index.ts';
import type { ProcessShapes } from './configuration.ts';
import { createProcessWorkflow } from './stock-process.ts';
import { createTaskLinks } from './tasks/links.ts';
import { createTaskRoutes } from './tasks/tasks.route.ts';
import { createTasks } from './tasks/tasks.ts';

export const openTaskPages = async (rooms: ApiRooms<ProcessShapes>): Promise<ApiPart> => {
  const { shards, redis, now } = rooms;
  const queues = shards.map((shard) => workflowsOf(shard).queue);
  const engine = createEngine(spreadOver(queues, redis, now), now);
  const { routes, endWaiting } = createTaskRoutes({
    tasks: createTasks({
      engine,
      workflow: createProcessWorkflow(),
      applicationName: rooms.nameOf,
      now,
    }),
    links: createTaskLinks(rooms.serviceKey),
    frame: rooms.frame,
    limiter: rooms.limiter,
    body: rooms.applications.limits,
    publicUrl: rooms.publicUrl,
    addressOf: rooms.addressOf,
    now,
    onError: rooms.onError,
  });
  return { routes, endWaiting: async () => endWaiting() };
};
