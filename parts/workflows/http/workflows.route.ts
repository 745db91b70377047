/**
 * Workflows over HTTP: an application starts instances, looks at them, sends events and cancels.
 *
 * application-route.ts authenticates the application. A start is new work for the admission.
 * Instances of others, unknown ones and those whose retention is over get the same answer.
 */
import { Hono } from 'hono';
import { z } from 'zod';
import { invalid, json, noRoom, stopping } from '../../../src/http/application-refusals.ts';
import {
  type Answered,
  type ApplicationRouteOptions,
  createApplicationRoute,
  type RouteContext,
  readNothing,
} from '../../../src/http/application-route.ts';
import type { HttpEnvironment } from '../../../src/http/body.ts';
import type { StartResult, Workflows, WorkflowView } from '../instances/workflows.ts';
import {
  conflict,
  refusedEvent,
  tooManyOpen,
  tooManyStreams,
  undecided,
  unknown,
  unknownWorkflow,
} from './workflow-refusals.ts';
import {
  createWorkflowStreams,
  type Presents,
  presentJournal,
  presentWorkflow,
} from './workflow-stream.ts';

const maxKeyLength = 200;
const maxReason = 500;

const startBody = z.strictObject({ id: z.string().optional(), input: z.unknown().optional() });
const eventBody = z.looseObject({ type: z.string().min(1).max(200) });

export interface WorkflowRoutesOptions extends ApplicationRouteOptions {
  readonly workflows: Pick<Workflows, 'start' | 'find' | 'findOwn' | 'journal' | 'send' | 'cancel'>;
  readonly presents: Presents;
}

const unstarted = {
  conflict,
  'too-many': tooManyOpen,
  full: noRoom,
  unknown: unknownWorkflow,
} as const;
const untaken = { refused: refusedEvent, unknown, busy: undecided } as const;
const unopened = { stopping, 'too-many': tooManyStreams, unknown } as const;

export const createWorkflowRoutes = (options: WorkflowRoutesOptions) => {
  const { workflows, presents } = options;
  const { serve, readJson } = createApplicationRoute(options);
  const streams = createWorkflowStreams(workflows, presents, options.log);

  const presentStart = (result: StartResult): Answered => {
    if (result.kind === 'invalid') return invalid(result.message);
    if (result.kind !== 'started' && result.kind !== 'known') return unstarted[result.kind];
    const { view } = result;
    const location = `/workflows/${view.name}/${view.id}`;
    return json(presentWorkflow(view, presents), result.kind === 'started' ? 201 : 200, {
      location,
    });
  };

  /** Reads the instance of a workflow that is shown with more than its view. */
  const openInstance = async (apId: string, { name, id, status }: WorkflowView) => {
    if (!Object.hasOwn(presents, name) || status !== 'open') return undefined;
    const instance = await workflows.findOwn(apId, name, id);
    return instance?.ended === 'no' ? instance : undefined;
  };

  const follow = async (c: RouteContext, apId: string): Promise<Answered> => {
    const { name = '', id = '' } = c.req.param() as { name?: string; id?: string };
    const { origin } = options.evidenceOf(c.env?.incoming);
    const stranger = options.providers.isRegistered(apId)
      ? undefined
      : { origin: origin?.() ?? '' };
    const stream = await streams.open(c, apId, name, id, stranger);
    return stream instanceof Response ? stream : unopened[stream];
  };

  const routes = new Hono<HttpEnvironment>();
  const at = '/workflows/:name/:id';

  routes.post('/workflows/:name', (c) =>
    serve(c, '/workflows/{name}', 'sign', readJson, async (apId, body) => {
      const read = startBody.safeParse(body);
      if (!read.success) return invalid('The body must be an object of input and, optionally, id');
      const { id, input } = read.data;
      return presentStart(await workflows.start(apId, c.req.param('name'), input, id));
    }),
  );

  routes.get(at, (c) =>
    serve(c, '/workflows/{name}/{id}', 'status', readNothing, async (apId) => {
      const view = await workflows.find(apId, c.req.param('name'), c.req.param('id'));
      return view === undefined
        ? unknown
        : json(presentWorkflow(view, presents, await openInstance(apId, view)));
    }),
  );

  routes.get(`${at}/journal`, (c) =>
    serve(c, '/workflows/{name}/{id}/journal', 'status', readNothing, async (apId) => {
      const journal = await workflows.journal(apId, c.req.param('name'), c.req.param('id'));
      return journal === undefined ? unknown : json(presentJournal(journal));
    }),
  );

  routes.delete(at, (c) =>
    serve(c, '/workflows/{name}/{id}', 'status', readNothing, async (apId) => {
      const reason = c.req.query('reason');
      if (reason !== undefined && (reason.trim() === '' || reason.length > maxReason))
        return invalid(`reason must have 1 to ${maxReason} characters`);
      const order = { by: 'application', reason };
      const result = await workflows.cancel(apId, c.req.param('name'), c.req.param('id'), order);
      return result === 'cancelled' ? json({ result }, 202) : untaken[result];
    }),
  );

  routes.post(`${at}/events`, (c) =>
    serve(c, '/workflows/{name}/{id}/events', 'status', readJson, async (apId, body) => {
      const read = eventBody.safeParse(body);
      if (!read.success) return invalid('type must be the type of an event');
      const key = c.req.header('idempotency-key');
      if (key !== undefined && (key === '' || key.length > maxKeyLength))
        return invalid(`Idempotency-Key must have 1 to ${maxKeyLength} characters`);
      const { name, id } = c.req.param();
      const result = await workflows.send(apId, name, id, read.data, key && `app/${key}`);
      if (result.kind === 'invalid') return invalid(result.message);
      return result.kind === 'taken' ? json({ result: 'taken' }, 202) : untaken[result.kind];
    }),
  );

  routes.get(`${at}/events`, (c) =>
    serve(c, '/workflows/{name}/{id}/events', 'status', readNothing, (apId) => follow(c, apId)),
  );

  return {
    routes,
    /** Ends all streams; their readers connect again elsewhere. */
    endWaiting: streams.close,
  };
};
