/** The pages of signers, in a process with the API. */

import { Hono } from 'hono';
import { createEngine, spreadOver } from '../../packages/engine/src/engine.ts';
import type { ApiPart } from '../../src/part/opened.ts';
import type { ApiRooms } from '../../src/part/rooms.ts';
import { workflowsOf } from '../workflows/index.ts';
import type { ProcessAddition } from './addition.ts';
import type { ProcessShapes } from './configuration.ts';
import { createProcessWorkflow } from './stock-process.ts';
import { createTaskLinks } from './tasks/links.ts';
import { createTaskRoutes } from './tasks/tasks.route.ts';
import { additionTaskOf, createTasks, findSigner } from './tasks/tasks.ts';

export const openTaskPages = async (
  rooms: ApiRooms<ProcessShapes>,
  addition?: ProcessAddition,
): Promise<ApiPart> => {
  const { shards, redis, now } = rooms;
  const queues = shards.map((shard) => workflowsOf(shard).queue);
  const engine = createEngine(spreadOver(queues, redis, now), now);
  const links = createTaskLinks(rooms.serviceKey);
  const pages = await addition?.openPages?.({
    ...rooms,
    findTask: async (token) => {
      const link = links.read(token);
      const signer = link && (await findSigner(engine, link));
      return signer && additionTaskOf(signer);
    },
  });
  const { routes, endWaiting } = createTaskRoutes({
    tasks: createTasks({
      engine,
      workflow: createProcessWorkflow({ addition: addition?.definition }),
      applicationName: rooms.nameOf,
      now,
    }),
    links,
    section: pages?.section,
    frame: rooms.frame,
    limiter: rooms.limiter,
    body: rooms.applications.limits,
    publicUrl: rooms.publicUrl,
    addressOf: rooms.addressOf,
    now,
    onError: rooms.onError,
  });
  // Those of the addition come first: they are below the page of a signer.
  const all = new Hono();
  if (pages !== undefined) all.route('/', pages.routes as Hono);
  all.route('/', routes as unknown as Hono);
  return { routes: all, endWaiting: async () => endWaiting() };
};
