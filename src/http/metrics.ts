/**
 * HTTP requests, by route and status.
 *
 * The signature interface is observed through its log, which knows the fault. All else is timed
 * around the application. Requests that are refused for lack of room reach neither; they are
 * counted in bulk.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { counter, histogram, type Registry } from '../telemetry/registry.ts';
import type { AnsweredEntry } from './log.ts';
import { pathOf } from './path.ts';
import type { RouteOf } from './route-label.ts';

export interface Bindings {
  readonly incoming?: IncomingMessage;
  readonly outgoing?: ServerResponse;
}

/** The application, and any wrapper around it. */
export type Fetch = (request: Request, bindings?: Bindings) => Response | Promise<Response>;

/**
 * The status that was sent. The OpenID library writes to the socket itself; a mark in the headers
 * of the response shows that, too, but reading it would make a `Headers` object for each answer.
 */
export const statusOf = (response: Response, bindings: Bindings | undefined): number =>
  bindings?.outgoing?.headersSent ? bindings.outgoing.statusCode : response.status;

/** Buckets in seconds, up to 300 because a synchronous caller waits for a person. */
const buckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export const createHttpMetrics = (registry: Registry, routeOf: RouteOf, now: () => number) => {
  const requests = counter(
    registry,
    'http_requests_total',
    'Answered requests, by route pattern and status.',
    ['route', 'status'],
  );
  const seconds = histogram(
    registry,
    'http_request_duration_seconds',
    'From the arrival of a request to its answer, or to the beginning of a stream.',
    ['route'],
    buckets,
  );
  const faults = counter(
    registry,
    'http_faults_total',
    'Faults answered by the signature interface, by route and code.',
    ['route', 'fault'],
  );
  const refusals = counter(
    registry,
    'http_refused_total',
    'Requests refused for lack of room, by what was short; not among the answered.',
    ['shortage'],
  );
  const answered = (route: string, status: number, durationMs: number): void => {
    requests.inc({ route, status });
    seconds.observe({ route }, Math.max(durationMs, 0) / 1000);
  };
  return {
    observer: {
      answered: ({ path, status, durationMs, fault }: AnsweredEntry) => {
        const route = routeOf(path);
        answered(route, status, durationMs);
        if (fault !== undefined) faults.inc({ route, fault });
      },
    },
    fetch:
      (inner: Fetch): Fetch =>
      (request, bindings) => {
        const path = pathOf(request);
        if (path.startsWith('/rest/service')) return inner(request, bindings);
        const since = now();
        const note = (response: Response): Response => {
          answered(routeOf(path), statusOf(response, bindings), now() - since);
          return response;
        };
        const response = inner(request, bindings);
        return response instanceof Promise ? response.then(note) : note(response);
      },
    /** Counts requests that were refused since the last call, by what was short. */
    refused: (count: number, shortage: string) => refusals.inc({ shortage }, count),
  };
};
