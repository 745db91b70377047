/** Workflows in a process with the API. */
import type { ApiPart } from '../../src/part/opened.ts';
import type { ApiRooms } from '../../src/part/rooms.ts';
import type { WorkflowShapes } from './configuration.ts';
import { createWorkflowRoutes } from './http/workflows.route.ts';
import { type Host, usable, workflowsIn } from './open-workflows.ts';

export const openWorkflowApi = async (
  rooms: ApiRooms<WorkflowShapes>,
  { hosted, own }: Host,
): Promise<ApiPart> => {
  const { settings, applications, subscribers } = rooms;
  const charts = usable(await own(settings, rooms.directory));
  const { routes, endWaiting } = createWorkflowRoutes({
    ...applications,
    workflows: await workflowsIn(rooms, hosted, charts, {
      maxOpen: settings.queue.maxOpen,
      find: subscribers.find,
    }),
    presents: Object.assign(
      {},
      ...(await Promise.all(hosted.map((each) => each.openPresent?.(rooms)))),
    ),
  });
  return { routes, endWaiting: async () => endWaiting() };
};
