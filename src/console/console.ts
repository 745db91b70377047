/**
 * The console of the people who run the service: pages, API and queue board under `/admin`.
 *
 * Nothing below `/admin` but the login is answered before `session/` knows who asks. What each of them may is decided by the
 * routes, and once more where it is done.
 */
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { refuse } from './api/answers.ts';
import { createCallbackRoutes } from './api/callbacks.route.ts';
import { createEventStreams } from './api/event-stream.ts';
import { createReplayRoutes } from './api/replays.route.ts';
import { createServiceRoutes } from './api/service.route.ts';
import { createTokenRoutes } from './api/tokens.route.ts';
import { createDetails } from './api/transaction-detail.ts';
import { createTransactionRoutes } from './api/transactions.route.ts';
import { createUserRoutes } from './api/users.route.ts';
import { createBoardRoutes } from './board/board.route.ts';
import type { ConsoleDeps, ConsoleEnvironment } from './deps.ts';
import { createPages } from './pages/pages.route.ts';
import { messagePage } from './pages/session-pages.ts';
import { consoleHeaders } from './session/headers.ts';
import { createLoginRoutes } from './session/login.route.ts';
import { isApi } from './session/paths.ts';
import { createSessionCheck } from './session/session.ts';

export interface Console {
  readonly routes: Hono<ConsoleEnvironment>;
  /** Ends the event streams, which would hold up a stop; their readers come back to another process. */
  endWaiting(): void;
}

/** A list of 20 000 ids to be replayed is the longest that anybody has to say. */
const mostBodyBytes = 1_048_576;
/** Anybody may send one. */
const mostLoginBytes = 8192;

export const createConsole = (deps: ConsoleDeps): Console => {
  const streams = createEventStreams(deps.operators);
  const details = createDetails(deps);
  const routes = new Hono<ConsoleEnvironment>();

  const failed = (path: string, status: 404 | 413 | 500): Response => {
    const text = { 404: 'There is no such page', 413: 'That is too much', 500: 'Something went wrong' }[
      status
    ];
    if (isApi(path)) {
      return refuse(status, { 404: 'unknown', 413: 'too-large', 500: 'trouble' }[status], text);
    }
    return new Response(messagePage({ title: text, text: '', status }), {
      status,
      headers: { 'content-type': 'text/html;charset=UTF-8' },
    });
  };

  // This is `/admin` itself, too.
  const everywhere = '/admin/*';
  routes.use(everywhere, consoleHeaders);
  routes.use(everywhere, async (c, next) => {
    try {
      await next();
    } catch (error) {
      deps.log.trouble(error instanceof Error ? error : new Error(String(error)));
      c.res = failed(c.req.path, 500);
    }
  });
  routes.use(
    '/admin/login/*',
    bodyLimit({ maxSize: mostLoginBytes, onError: (c) => failed(c.req.path, 413) }),
  );
  routes.use(everywhere, bodyLimit({ maxSize: mostBodyBytes, onError: (c) => failed(c.req.path, 413) }));
  routes.use(everywhere, createSessionCheck(deps));
  routes.route('/', createLoginRoutes(deps));
  for (const api of [
    createTransactionRoutes(deps, details, streams),
    createReplayRoutes(deps),
    createCallbackRoutes(deps),
    createUserRoutes(deps),
    createTokenRoutes(deps),
    createServiceRoutes(deps),
  ]) {
    routes.route('/admin/api', api);
  }
  routes.route('/admin/queues', createBoardRoutes(deps, details));
  routes.route('/', createPages(deps, details));
  routes.all(everywhere, (c) => failed(c.req.path, 404));
  return { routes, endWaiting: streams.close };
};
