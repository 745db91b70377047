/**
 * The API without a login, for the command line beside the service, which runs it in its own process.
 * Users and tokens are not in it, because they need the master key.
 */
import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import type { Operator } from '../operators/operator.ts';
import { createCallbackRoutes } from './callbacks.route.ts';
import type { AdminApiDeps, ConsoleEnvironment } from './deps.ts';
import { createEventStreams } from './event-stream.ts';
import { createReplayRoutes } from './replays.route.ts';
import { createServiceRoutes } from './service.route.ts';
import { createDetails } from './transaction-detail.ts';
import { createTransactionRoutes } from './transactions.route.ts';

/** @returns Rejects where a route throws, such as when Redis is away. */
export const openAdminApi = (
  deps: AdminApiDeps,
  operator: Operator,
): ((request: Request) => Promise<Response>) => {
  const streams = createEventStreams({ isStillIn: async () => true });
  const session = { operator, csrf: '', id: randomUUID() };
  const routes = new Hono<ConsoleEnvironment>();
  routes.onError((error) => {
    throw error;
  });
  routes.use('*', async (c, next) => {
    c.set('session', session);
    await next();
  });
  for (const api of [
    createTransactionRoutes(deps, createDetails(deps), streams),
    createReplayRoutes(deps),
    createCallbackRoutes(deps),
    createServiceRoutes(deps),
  ]) {
    routes.route('/', api);
  }
  return async (request) => routes.fetch(request);
};
