/** Processes and charts of the operator in a process with the API, and the pages of signers. */
import { Hono } from 'hono';
import type { ApiPart } from '../../src/part/part.ts';
import type { ApiRooms } from '../../src/part/rooms.ts';
import type { ProcessShapes } from './configuration.ts';
import { createWorkflowRoutes } from './http/workflows.route.ts';
import { type OwnCharts, usable, workflowsIn } from './open-workflows.ts';
import { createSignerLinks, createTaskLinks } from './tasks/links.ts';
import { createTaskRoutes } from './tasks/tasks.route.ts';
import { createTasks } from './tasks/tasks.ts';
import { checkNumbers } from './workflows/check-definition.ts';
import { processName } from './workflows/stock-process.ts';

export const openProcessApi = async (
  rooms: ApiRooms<ProcessShapes>,
  own: OwnCharts,
): Promise<ApiPart> => {
  const { settings, serviceKey, applications, subscribers, publicUrl, now, onError } = rooms;
  const charts = usable(await own(settings, rooms.directory));
  const workflows = workflowsIn(rooms, charts, {
    maxOpen: settings.queue.maxOpen,
    check: async (name, input, at) =>
      name === processName ? checkNumbers(input, { now: at, find: subscribers.find }) : undefined,
  });
  const served = createWorkflowRoutes({
    ...applications,
    workflows,
    signerLink: createSignerLinks(serviceKey, publicUrl),
  });
  const [workflow] = workflows.versions(processName);
  if (workflow === undefined) throw new Error('There is no process');
  const { engine } = workflows;
  const pages = createTaskRoutes({
    tasks: createTasks({ engine, workflow, applicationName: rooms.nameOf, now }),
    links: createTaskLinks(serviceKey),
    frame: rooms.frame,
    limiter: rooms.limiter,
    body: applications.limits,
    publicUrl,
    addressOf: rooms.addressOf,
    now,
    onError,
  });
  const routes = new Hono();
  routes.route('/', served.routes);
  routes.route('/', pages.routes);
  return {
    routes,
    endWaiting: async () => {
      served.endWaiting();
      pages.endWaiting();
    },
  };
};
