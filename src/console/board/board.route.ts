/**
 * bull-board at `/admin/queues`: BullMQ's own view of the queues.
 *
 * It is read-only and shows no buttons (retry, remove, edit, promote, empty), because they would
 * bypass the transaction and the audit log: each job leads to its page in the console. The routes
 * are an allow list, so that a route of a later version is not open by accident.
 *
 * bull-board knows no roles, so there is one board for viewers and one for the others. The job of
 * one transaction shows what its page in the console shows, and is recorded in the audit log in the
 * same way. Parents and children of a job are for parts to know (`flowOf`).
 */
import { Hono } from 'hono';
import { z } from 'zod';
import { answer, refuse } from '../answers.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import type { Role } from '../operators/operator.ts';
import { boardScriptAddress, boardStylesheetAddress } from '../pages/assets.ts';
import { seesPeople } from '../redaction.ts';
import type { Details } from '../transaction-detail.ts';
import type { Flow } from './board-part.ts';

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

/** Parts of its page that are removed: links to other servers (fonts), and inline styles. */
const unwanted = /<link\b[^>]*\bhref="(?:https?:)?\/\/[^>]*>|<style>[^<]*<\/style>| style="[^"]*"/g;

/** Colours and names for what bull-board shows (assets/board.css, board.js). */
const ownFiles = `<link href="${boardStylesheetAddress}" rel="stylesheet"><script defer src="${boardScriptAddress}"></script>`;

/** The way back, above the board. */
const wayBack =
  '<section class="paraph" aria-label="Paraph"><a href="/admin">Back to the console</a><h1>Queues</h1></section>';

/** The page of the board, from that of bull-board. */
const boardPage = (page: string): string =>
  page
    .replaceAll(unwanted, '')
    .replace('</head>', () => `${ownFiles}</head>`)
    .replace(/<body\b[^>]*>/, (body) => `${body}${wayBack}`);

/** Time for which files are cached. Their names contain a hash, except for icons. */
const fileSeconds = 86_400;

/** The most jobs on one page of the board. */
const maxJobs = 100;

const jobAnswer = z.looseObject({ job: z.looseObject({}) });

export const createBoardRoutes = (
  deps: ConsoleDeps,
  details: Details,
): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();
  const boards = new Map<Role, Promise<Hono>>();
  const boardFor = (role: Role): Promise<Hono> => {
    const kind = seesPeople(role) ? 'operator' : 'viewer';
    const known =
      boards.get(kind) ??
      import('./board.ts').then(({ createBoard }) => createBoard(deps, kind, basePath));
    boards.set(kind, known);
    return known;
  };

  const isSignatures = (name: string): boolean => /^(?:\d+-)?signatures$/.test(name);

  routes.get('/api/queues/:queue/:job/flow', async (c) => {
    const nodeId = c.req.param('job');
    const part = deps.parts.find(({ flowOf }) => flowOf !== undefined);
    const alone: Flow = { nodeId, isFlowNode: false, flowRoot: null };
    return answer((await part?.flowOf?.(nodeId)) ?? alone);
  });

  routes.get('/api/queues/:queue/:job', async (c, next) => {
    const { queue, job } = c.req.param();
    await next();
    if (c.res.status !== 200 || !isSignatures(queue)) return;
    const told = jobAnswer.safeParse(await c.res.clone().json()).data;
    // Other answers about the queue have an address of the same form.
    if (told === undefined) return;
    const data = await details.read(job, c.get('session'));
    if (data !== undefined) c.res = answer({ ...told, job: { ...told.job, data } });
  });

  routes.get('*', async (c) => {
    const path = c.req.path.slice(basePath.length);
    // The board knows only one address of its first page.
    if (path === '/') return c.redirect(`${basePath}${new URL(c.req.url).search}`);
    if (!readable.some((pattern) => pattern.test(path)))
      return refuse(404, 'unknown', 'There is no such page');
    // The board has no limit of its own, and reads all jobs at once.
    const sizes = c.req.queries('jobsPerPage') ?? [];
    if (!sizes.every((size) => /^\d{1,3}$/.test(size) && Number(size) <= maxJobs)) {
      return refuse(400, 'bad-request', `jobsPerPage must be a number of at most ${maxJobs}`);
    }
    const board = await boardFor(c.get('session').operator.role);
    const answered = await board.fetch(c.req.raw, c.env);
    if (answered.status >= 500) {
      // Throws when Redis is away, which the console answers everywhere alike.
      await deps.redis.ping();
      // The answer of bull-board may quote Redis, so it is replaced.
      deps.log.trouble(new Error(`The queue board has answered ${answered.status}`));
      return refuse(500, 'trouble', 'This cannot be shown at the moment');
    }
    if (path.startsWith('/static/')) {
      const found = new Response(answered.body, answered);
      found.headers.set('cache-control', `private, max-age=${fileSeconds}`);
      return found;
    }
    if (!(answered.headers.get('content-type') ?? '').startsWith('text/html')) return answered;
    return c.html(boardPage(await answered.text()));
  });

  routes.all('*', () =>
    refuse(403, 'forbidden', 'The board only shows; replay and cancel are done in the console'),
  );

  return routes;
};
