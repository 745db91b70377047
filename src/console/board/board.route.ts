/**
 * bull-board at `/admin/queues`: BullMQ's own view of the queues, for those who know it.
 *
 * It reads, and nothing else of it works: what it would do to a job (remove, edit, promote, empty) would be done behind the back of
 * the transaction, of the audit log and of the person at the phone. Its retry button orders a replay like every other.
 * Only what is listed here reaches it, so that a route that a later version brings is not open by surprise.
 *
 * It has no notion of who asks, so there is one of it for viewers and one for the others. Whoever opens the job of a transaction
 * gets what its page in the console shows them, and is in the audit log like there.
 *
 * Its page asks somebody else's server for fonts; that link is taken out.
 */
import { Hono } from 'hono';
import { z } from 'zod';
import type { Role } from '../../operators/operator.ts';
import { answer, refuse } from '../answers.ts';
import { presentCallbackReplay } from '../callbacks.route.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { seesPeople } from '../redaction.ts';
import type { Details } from '../transaction-detail.ts';
import { presentReplay } from '../transactions.route.ts';

const basePath = '/admin/queues';

const readable: readonly RegExp[] = [
  /^$/,
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

/** A page of the board. */
const mostJobs = 100;

/** What it answers about one job. */
const jobAnswer = z.looseObject({ job: z.looseObject({}) });

export const createBoardRoutes = (deps: ConsoleDeps, details: Details): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();
  const boards = new Map<Role, Promise<Hono>>();
  const boardFor = (role: Role): Promise<Hono> => {
    const kind = seesPeople(role) ? 'operator' : 'viewer';
    const known =
      boards.get(kind) ?? import('./board.ts').then(({ createBoard }) => createBoard(deps, kind, basePath));
    boards.set(kind, known);
    return known;
  };

  const isSignatures = (name: string): boolean => /^(?:\d+-)?signatures$/.test(name);
  const isCallbacks = (name: string): boolean => /^(?:\d+-)?callbacks$/.test(name);

  routes.put('/api/queues/:queue/:job/retry/:status?', async (c) => {
    const { operator } = c.get('session');
    if (!seesPeople(operator.role)) return refuse(403, 'forbidden', 'This needs the role operator');
    const { queue, job } = c.req.param();
    if (isCallbacks(queue)) {
      const result = await deps.callbacks.replay(job, operator);
      return result === 'replayed' ? new Response(null, { status: 204 }) : presentCallbackReplay(result);
    }
    if (!isSignatures(queue)) {
      return refuse(403, 'forbidden', 'Only transactions and callbacks are replayed here');
    }
    const result = await deps.replays.replay(job, operator);
    return result === 'replayed' ? new Response(null, { status: 204 }) : presentReplay(result);
  });

  routes.get('/api/queues/:queue/:job/flow', (c) =>
    answer({ nodeId: c.req.param('job'), isFlowNode: false, flowRoot: null }),
  );

  routes.get('/api/queues/:queue/:job', async (c, next) => {
    const { queue, job } = c.req.param();
    await next();
    if (c.res.status !== 200 || !isSignatures(queue)) return;
    const told = jobAnswer.safeParse(await c.res.clone().json()).data;
    // Something else about the queue, at an address of the same form.
    if (told === undefined) return;
    const data = await details.read(job, c.get('session'));
    if (data !== undefined) c.res = answer({ ...told, job: { ...told.job, data } });
  });

  routes.get('*', async (c) => {
    const path = c.req.path.slice(basePath.length);
    // The board knows its first page by one address only.
    if (path === '/') return c.redirect(`${basePath}${new URL(c.req.url).search}`);
    if (!readable.some((pattern) => pattern.test(path)))
      return refuse(404, 'unknown', 'There is no such page');
    // The board sets no limit, and all that it reads is read whole, in one go.
    if (
      !(c.req.queries('jobsPerPage') ?? []).every(
        (each) => /^\d{1,3}$/.test(each) && Number(each) <= mostJobs,
      )
    ) {
      return refuse(400, 'bad-request', `jobsPerPage must be a number of at most ${mostJobs}`);
    }
    const board = await boardFor(c.get('session').operator.role);
    const answered = await board.fetch(c.req.raw, c.env);
    if (answered.status >= 500) {
      // Its own words about this may be those of Redis.
      deps.log.trouble(new Error(`The queue board has answered ${answered.status}`));
      return refuse(500, 'trouble', 'This cannot be shown at the moment');
    }
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
