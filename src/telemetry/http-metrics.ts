/**
 * HTTP requests, by route and status.
 *
 * The signature interface is heard through its log, which knows the fault and costs nothing more. Everything else is
 * timed around the application. Requests that are refused for lack of room never reach either; they are told in bulk.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { HttpLog } from '../http/log.ts';
import { pathOf } from '../http/path.ts';
import { routeOf } from './labels.ts';
import { prefix } from './registry.ts';

export interface Bindings {
  readonly incoming?: IncomingMessage;
  readonly outgoing?: ServerResponse;
}

/** What answers requests: the application, and whatever is put around it. */
export type Fetch = (request: Request, bindings?: Bindings) => Response | Promise<Response>;

/** The status that the caller has seen. The OpenID library writes to the socket itself; what comes back then only says so. */
export const statusOf = (response: Response, bindings: Bindings | undefined): number =>
  bindings?.outgoing !== undefined && response.headers.has('x-hono-already-sent')
    ? bindings.outgoing.statusCode
    : response.status;

/** A synchronous caller waits for a person. */
const buckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export interface HttpMetrics {
  readonly observer: Pick<HttpLog, 'answered'>;
  readonly fetch: (inner: Fetch) => Fetch;
  /** Requests that were refused since the last call, and what there was no room for. */
  readonly refused: (count: number, shortage: string) => void;
}

const servicePath = '/rest/service';

export const createHttpMetrics = (registry: Registry, now: () => number): HttpMetrics => {
  const requests = new Counter({
    name: `${prefix}http_requests_total`,
    help: 'Answered requests, by route pattern and status.',
    labelNames: ['route', 'status'] as const,
    registers: [registry],
  });
  const seconds = new Histogram({
    name: `${prefix}http_request_duration_seconds`,
    help: 'From the arrival of a request to its answer; for a stream of events, to its beginning.',
    labelNames: ['route'] as const,
    buckets,
    registers: [registry],
  });
  const faults = new Counter({
    name: `${prefix}http_faults_total`,
    help: 'Faults answered by the signature interface, by route and code.',
    labelNames: ['route', 'fault'] as const,
    registers: [registry],
  });
  const refusals = new Counter({
    name: `${prefix}http_refused_total`,
    help: 'Requests refused for lack of room, by what was short. They are not among the answered.',
    labelNames: ['shortage'] as const,
    registers: [registry],
  });
  const answered = (route: string, status: number, durationMs: number): void => {
    requests.inc({ route, status });
    seconds.observe({ route }, Math.max(durationMs, 0) / 1000);
  };
  return {
    observer: {
      answered: ({ path, status, durationMs, fault }) => {
        const route = routeOf(path);
        answered(route, status, durationMs);
        if (fault !== undefined) faults.inc({ route, fault });
      },
    },
    fetch: (inner) => (request, bindings) => {
      const path = pathOf(request);
      if (path.startsWith(servicePath)) return inner(request, bindings);
      const since = now();
      const note = (response: Response): Response => {
        answered(routeOf(path), statusOf(response, bindings), now() - since);
        return response;
      };
      const response = inner(request, bindings);
      return response instanceof Promise ? response.then(note) : note(response);
    },
    refused: (count, shortage) => refusals.inc({ shortage }, count),
  };
};
