/**
 * The routes of all subjects: for the console, and without a login for the command line on the
 * machine of the service, where they run in the process of the command.
 */
import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { createAuditRoutes } from './audit.route.ts';
import type { AdminApiDeps, ConsoleEnvironment, SecretDeps, UserDeps } from './deps.ts';
import { createConsoleStreams, type EventStreams } from './event-stream.ts';
import { createNeeds } from './needs.ts';
import type { Operator } from './operators/operator.ts';
import { usualView } from './operators/views.ts';
import { createReplayRoutes } from './replays.route.ts';
import { createSecretRoutes } from './secrets.route.ts';
import { createServiceRoutes } from './service.route.ts';
import { createTokenRoutes } from './tokens.route.ts';
import { createDetails, type Details } from './transaction-detail.ts';
import { createTransactionRoutes } from './transactions.route.ts';
import { createUserRoutes } from './users.route.ts';

/** @param secrets Needed for the routes of users, tokens, secrets and keys. */
export const mountSubjects = (
  routes: Hono<ConsoleEnvironment>,
  deps: AdminApiDeps,
  secrets: (SecretDeps & UserDeps) | undefined,
  details: Details,
  streams: EventStreams,
): void => {
  routes.route('/', createTransactionRoutes(deps, details, streams));
  routes.route('/', createReplayRoutes(deps));
  routes.route('/', createAuditRoutes(deps));
  routes.route('/', createServiceRoutes(deps, createNeeds(deps, secrets?.secretNeeds)));
  for (const part of deps.parts) {
    const ofPart = part.routes?.(deps);
    if (ofPart !== undefined) routes.route('/', ofPart);
  }
  if (secrets === undefined) return;
  routes.route('/', createUserRoutes(secrets));
  routes.route('/', createTokenRoutes(secrets));
  routes.route('/', createSecretRoutes({ ...deps, ...secrets }));
  for (const create of secrets.secretRoutes) routes.route('/', create(deps));
};

/**
 * The API without a login.
 *
 * @param secrets The same as in {@link mountSubjects}.
 * @returns A function that rejects when a route throws, for example when Redis is down.
 */
export const openAdminApi = (
  deps: AdminApiDeps,
  secrets: (SecretDeps & UserDeps) | undefined,
  operator: Operator,
): ((request: Request) => Promise<Response>) => {
  const operators = { isStillIn: async () => true };
  const streams = createConsoleStreams({ operators, onError: (error) => deps.log.trouble(error) });
  const session = {
    operator,
    csrf: '',
    id: randomUUID(),
    view: usualView,
    frame: deps.frame,
    at: 0,
  };
  const routes = new Hono<ConsoleEnvironment>();
  routes.onError((error) => {
    throw error;
  });
  routes.use('*', (c, next) => {
    c.set('session', session);
    return next();
  });
  mountSubjects(routes, deps, secrets, createDetails(deps), streams);
  return async (request) => routes.fetch(request);
};
