/** bull-board for one role. It is loaded when somebody opens it first: no start waits for it, and hardly any process needs it. */
import { createBullBoard } from '@bull-board/api';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import type { Role } from '../../operators/operator.ts';
import type { ConsoleDeps } from '../deps.ts';
import { createAdapters } from './adapters.ts';

export const createBoard = (deps: ConsoleDeps, role: Role, basePath: string): Hono => {
  const adapter = new HonoAdapter(serveStatic);
  adapter.setBasePath(basePath);
  createBullBoard({
    queues: [...createAdapters(deps, role)],
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: 'Paraph queues',
        hideRedisDetails: true,
        hideDocsLink: true,
        showWorkers: false,
        miscLinks: [{ text: 'Console', url: '/admin' }],
      },
    },
  });
  return new Hono().route(basePath, adapter.registerPlugin());
};
