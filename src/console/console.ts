/**
 * The console of the operators: pages, API and queue board under `/admin`.
 *
 * `session/` checks the session of every request, except those of the login. The routes check the
 * role, and the rooms that carry out an order check it again.
 */
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { isRedisAway } from '../../packages/engine/src/redis/to-error.ts';
import { mountSubjects } from './admin-api.ts';
import { type AdminRefusal, answer, refuse } from './answers.ts';
import { createBoardRoutes } from './board/board.route.ts';
import type { ConsoleDeps, ConsoleEnvironment } from './deps.ts';
import { createConsoleStreams } from './event-stream.ts';
import { describeAdminApi } from './openapi.ts';
import { messagePage } from './pages/session-pages.ts';
import { createLoginRoutes } from './session/login.route.ts';
import { consoleHeaders, createSessionCheck, isApi } from './session/session.ts';
import { createDetails } from './transaction-detail.ts';
import { createViewRoutes } from './view.route.ts';

/** The largest body, enough for a list of 20 000 ids to replay. */
const maxBodyBytes = 1_048_576;
/** The largest body without a session. */
const maxLoginBytes = 8192;

const unknown: AdminRefusal = [404, 'unknown', 'There is no such page'];
const tooLarge: AdminRefusal = [413, 'too-large', 'That is too much'];
const failed: AdminRefusal = [500, 'trouble', 'Something went wrong'];
const away: AdminRefusal = [503, 'unavailable', 'Redis is not available'];
const awayText =
  'Nothing can be shown or changed now. What is stored stays; load the page again in a moment.';

const refuseAt = (path: string, [status, code, title]: AdminRefusal, text = ''): Response => {
  if (isApi(path)) return refuse(status, code, title);
  return new Response(messagePage(status, title, text), {
    status,
    headers: { 'content-type': 'text/html;charset=UTF-8' },
  });
};

/**
 * Answers an error: tells an operator the problem, and a program that it may repeat the request.
 */
const refuseFailed = (path: string, error: Error): Response => {
  if (!isRedisAway(error)) return refuseAt(path, failed);
  const refused = refuseAt(path, away, awayText);
  refused.headers.set('retry-after', '1');
  return refused;
};

const limitBody = (maxSize: number) =>
  bodyLimit({ maxSize, onError: (c) => refuseAt(c.req.path, tooLarge) });

export const createConsole = (deps: ConsoleDeps) => {
  const streams = createConsoleStreams({ ...deps, onError: deps.log.trouble });
  const details = createDetails(deps);
  const routes = new Hono<ConsoleEnvironment>();

  // This is `/admin` itself, too.
  const everywhere = '/admin/*';
  routes.onError((error, c) => {
    deps.log.trouble(error);
    return refuseFailed(c.req.path, error);
  });
  routes.use(everywhere, consoleHeaders);
  routes.use('/admin/login/*', limitBody(maxLoginBytes));
  routes.use(everywhere, limitBody(maxBodyBytes));
  routes.use(everywhere, createSessionCheck(deps));
  routes.route('/', createLoginRoutes(deps));
  mountSubjects(routes, deps, deps, details, streams);
  routes.route('/', createViewRoutes(deps));
  routes.route('/admin/queues', createBoardRoutes(deps, details));
  routes.get('/admin/api/openapi.json', () =>
    answer(
      describeAdminApi(
        routes.routes,
        deps.parts.map(({ words }) => words),
      ),
    ),
  );
  routes.all(everywhere, (c) => refuseAt(c.req.path, unknown));
  return {
    routes,
    /**
     * Ends the event streams, which would delay a stop. Their readers reconnect to another process.
     */
    endWaiting: streams.close,
  };
};
