/**
 * bull-board at `/admin/queues`: BullMQ's own view of the queues, for those who know it.
 *
 * It reads, and nothing else of it works: what it would do to a job (remove, edit, promote, empty) would be done behind the back of
 * the transaction, of the audit log and of the person at the phone. Its retry button orders a replay like every other.
 * Only what is listed here reaches it, so that a route that a later version brings is not open by surprise.
 *
 * Its page asks somebody else's server for fonts; that link is taken out.
 */
import { createBullBoard } from '@bull-board/api';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { answer, refuse } from '../api/answers.ts';
import { presentReplay } from '../api/transactions.route.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { seesPeople } from '../redaction.ts';
import { createAdapters } from './adapters.ts';

const basePath = '/admin/queues';

const readable: readonly RegExp[] = [
  /^\/?$/,
  /^\/queue\/[^/]+(?:\/[^/]+)?$/,
  /^\/static\/.+$/,
  /^\/api\/queues$/,
  /^\/api\/queues\/[^/]+\/(?:metrics|rate-limit|job-data-schema|default-job-options)$/,
  /^\/api\/queues\/[^/]+\/[^/]+$/,
  /^\/api\/queues\/[^/]+\/[^/]+\/logs$/,
];

/** In its page: links to elsewhere; styles of the moment before its own style sheet, which no policy of ours allows. */
const unwanted = /<link\b[^>]*\bhref="(?:https?:)?\/\/[^>]*>|<style>[^<]*<\/style>| style="[^"]*"/g;

/** Its files are named by their content, but for icons. */
const fileSeconds = 86_400;

const createBoard = (deps: ConsoleDeps, readOnly: boolean): Hono => {
  const adapter = new HonoAdapter(serveStatic);
  adapter.setBasePath(basePath);
  createBullBoard({
    queues: [...createAdapters(deps.shards, readOnly)],
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

export const createBoardRoutes = (deps: ConsoleDeps): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();
  const boards = { reading: createBoard(deps, true), replaying: createBoard(deps, false) };

  const isSignatures = (name: string): boolean => /^(?:\d+-)?signatures$/.test(name);

  routes.put('/api/queues/:queue/:job/retry/:status?', async (c) => {
    const { operator } = c.get('session');
    if (!seesPeople(operator.role)) return refuse(403, 'forbidden', 'This needs the role operator');
    if (!isSignatures(c.req.param('queue'))) {
      return refuse(403, 'forbidden', 'Only transactions are replayed here');
    }
    const result = await deps.replays.replay(c.req.param('job'), operator);
    return result === 'replayed' ? new Response(null, { status: 204 }) : presentReplay(result);
  });

  routes.get('/api/queues/:queue/:job/flow', (c) =>
    answer({ nodeId: c.req.param('job'), isFlowNode: false, flowRoot: null }),
  );

  routes.get('*', async (c) => {
    const path = c.req.path.slice(basePath.length);
    if (!readable.some((pattern) => pattern.test(path)))
      return refuse(404, 'unknown', 'There is no such page');
    const board = seesPeople(c.get('session').operator.role) ? boards.replaying : boards.reading;
    const answered = await board.fetch(c.req.raw, c.env);
    if (path.startsWith('/static/')) {
      const found = new Response(answered.body, answered);
      found.headers.set('cache-control', `private, max-age=${fileSeconds}`);
      return found;
    }
    if (!(answered.headers.get('content-type') ?? '').startsWith('text/html')) return answered;
    return c.html((await answered.text()).replaceAll(unwanted, ''));
  });

  routes.all('*', () =>
    refuse(403, 'forbidden', 'The board only shows; replay and cancel are done in the console'),
  );

  return routes;
};
