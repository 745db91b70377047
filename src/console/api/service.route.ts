/** How the service does, over the API: overview, queues, application providers, the audit log, and who asks. */
import { Hono } from 'hono';
import { queuesOf } from '../board/queues-of.ts';
import type { AdminApiDeps, ConsoleEnvironment } from '../deps.ts';
import { needs } from '../session/session.ts';
import { answer, refuse } from './answers.ts';
import { auditQuery, overviewQuery, readQuery } from './input.ts';

const hourMs = 3_600_000;

export const createServiceRoutes = (deps: AdminApiDeps): Hono<ConsoleEnvironment> => {
  const { history, audit, shards, providers, now } = deps;
  const routes = new Hono<ConsoleEnvironment>();

  routes.get('/session', (c) => {
    const { operator, csrf } = c.get('session');
    return answer({ ...operator, csrf });
  });

  routes.get('/overview', async (c) => {
    const query = readQuery(c, overviewQuery);
    if (!query.ok) return query.response;
    return answer(await history.overview(now() - query.value.hours * hourMs));
  });

  routes.get('/queues', async () =>
    answer({
      queues: await Promise.all(
        shards.flatMap((shard) =>
          queuesOf(shard).map(async (queue) => {
            // To BullMQ a job that has its place in the fair order is a prioritized one.
            const {
              waiting = 0,
              prioritized = 0,
              ...others
            } = await queue.getJobCounts(
              'waiting',
              'prioritized',
              'active',
              'delayed',
              'failed',
              'completed',
            );
            return { shard: shard.index, name: queue.name, waiting: waiting + prioritized, ...others };
          }),
        ),
      ),
    }),
  );

  routes.get('/aps', () => answer({ aps: providers() }));

  routes.get('/audit', needs('operator'), async (c) => {
    const query = readQuery(c, auditQuery);
    if (!query.ok) return query.response;
    const page = await audit.read(query.value);
    return page === undefined ? refuse(400, 'bad-request', 'cursor is none') : answer(page);
  });

  return routes;
};
