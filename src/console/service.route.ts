/**
 * Overview, refused requests, queues, application providers, search index and the own session. Pages
 * and API.
 */
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { z } from 'zod';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { faultCodes } from '../../packages/protocol/src/fault.ts';
import { askedIn } from '../http/pages/assets.ts';
import type { Overview } from '../transactions/history/overview.ts';
import { queuesIn } from '../transactions/shards.ts';
import { answer, refuse } from './answers.ts';
import type { AdminApiDeps, ConsoleEnvironment } from './deps.ts';
import { query, text } from './input.ts';
import type { ReadNeeds } from './needs.ts';
import { doneBy } from './operators/audit.ts';
import { serveConsoleAsset } from './pages/assets.ts';
import { overviewPage, type Range, ranges, usualRange } from './pages/overview-page.ts';
import { refusalsPage } from './pages/refusals-page.ts';
import { needs } from './session/session.ts';

const hourMs = 3_600_000;
const keptMs = 10_000;
const maxText = 256;
const countedStates = [
  'waiting',
  'prioritized',
  'active',
  'delayed',
  'failed',
  'completed',
] as const;

const faultCode = z.coerce.number().pipe(z.literal(faultCodes));

const overviewQuery = z.strictObject({ hours: z.coerce.number().min(0.1).max(720).default(1) });
export const createServiceRoutes = (
  deps: AdminApiDeps,
  readNeeds: ReadNeeds,
): Hono<ConsoleEnvironment> => {
  const { history, parts, indexed, audit, shards, providers, sandbox, log, now } = deps;
  const routes = new Hono<ConsoleEnvironment>();

  routes.get(
    '/admin/assets/:name',
    async (c, next) => serveConsoleAsset(c.req.param('name'), askedIn(c)) ?? next(),
  );

  routes.get('/admin/api/session', (c) => {
    const { operator, csrf } = c.get('session');
    return answer({ ...operator, csrf });
  });

  const overviews = async () =>
    (await Promise.all(parts.map((part) => part.overview?.()))).filter(
      (told) => told !== undefined,
    );

  routes.get('/admin/api/overview', query(overviewQuery), async (c) =>
    answer({
      ...(await history.overview(now() - c.req.valid('query').hours * hourMs)),
      needs: (await readNeeds()).map(({ role: _, ...need }) => need),
      ...Object.assign({}, ...(await overviews()).map(({ told }) => told)),
    }),
  );

  /** Overviews that are reused for a while: one of days takes hundreds of reads in each shard. */
  const kept = new Map<Range, { readonly at: number; readonly told: Promise<Overview> }>();
  const overviewOf = (range: Range): Promise<Overview> => {
    const at = now();
    const last = kept.get(range);
    if (last !== undefined && Math.abs(at - last.at) < keptMs) return last.told;
    const { ms } = ranges[range];
    const told = history.overview(at - ms);
    if (ms > 24 * hourMs) {
      kept.set(range, { at, told });
      told.catch(() => kept.delete(range));
    }
    return told;
  };

  routes.get('/admin', async (c) => {
    const time = now();
    const asked = c.req.query('range') ?? '';
    const range = Object.hasOwn(ranges, asked) ? (asked as Range) : usualRange;
    const [needs, { lastHour, lastDay }, overview, processes, ofParts] = await Promise.all([
      readNeeds(),
      history.refused(),
      overviewOf(range),
      history.processes(),
      overviews(),
    ]);
    const refused: Partial<Record<Range, number>> = { '1h': lastHour, '24h': lastDay };
    const model = {
      session: c.get('session'),
      needs,
      range,
      overview,
      refused: refused[range],
      processes,
      tiles: ofParts.map(({ tile }) => tile),
      now: time,
    };
    return c.html(overviewPage(model));
  });

  routes.get(
    '/admin/api/refusals',
    query(z.strictObject({ apId: text(maxText), fault: faultCode }).partial()),
    async (c) => answer(await history.refusals(c.req.valid('query'))),
  );

  routes.get('/admin/refusals', async (c) => {
    const apId = c.req.query('apId')?.trim().slice(0, maxText) || undefined;
    // A fault that cannot be read is none: the page says whether it shows all.
    const fault = faultCode.safeParse(c.req.query('fault')).data;
    const filter = { apId, fault };
    return c.html(refusalsPage(c.get('session'), await history.refusals(filter), filter));
  });

  routes.get('/admin/api/processes', async () => answer({ processes: await history.processes() }));

  routes.get('/admin/api/queues', async () => {
    const queues = queuesIn(shards).map(async ({ shard, queue }) => {
      const counts = await queue.getJobCounts(...countedStates);
      // BullMQ calls a job with a place in the fair order prioritized.
      const { waiting = 0, prioritized = 0, ...others } = counts;
      return { shard, name: queue.name, waiting: waiting + prioritized, ...others };
    });
    return answer({ queues: await Promise.all(queues) });
  });

  routes.get('/admin/api/aps', () =>
    answer({ sandbox, aps: providers().map(({ more, ...own }) => ({ ...own, ...more })) }),
  );

  /** Rebuilds the index and streams the progress. If the caller hangs up, the old index stays. */
  routes.post('/admin/api/index/rebuild', needs('admin'), async (c) => {
    if (!indexed)
      return refuse(409, 'no-index', 'This configuration keeps no search index (operations.index)');
    await audit.record({ ...doneBy(c.get('session').operator), action: 'history-rebuild' });
    const gone = new AbortController();
    const signal = AbortSignal.any([gone.signal, c.req.raw.signal]);
    const response = streamSSE(c, async (stream) => {
      stream.onAbort(() => gone.abort());
      const send = (event: string, data: object): Promise<void> =>
        stream.writeSSE({ event, data: JSON.stringify(data) });
      try {
        const { indexed } = await history.rebuild(
          (progress) => void send('progress', progress),
          signal,
        );
        await send('done', { indexed, done: true });
      } catch (error) {
        const { message } = toError(error);
        const isBusy = message.startsWith('Another process');
        if (!isBusy && !signal.aborted) log.trouble(toError(error));
        await send(
          'failed',
          isBusy ? { error: 'busy', message } : { error: 'trouble', message: 'It was given up' },
        );
      }
    });
    response.headers.set('cache-control', 'no-store');
    response.headers.set('x-accel-buffering', 'no');
    return response;
  });

  return routes;
};
