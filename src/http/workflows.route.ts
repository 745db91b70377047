/**
 * Workflows over HTTP: an application starts instances, looks at them, sends events and cancels.
 *
 * It proves itself with HTTP Basic, where AP_ID and AP_PWD are form-urlencoded (RFC 6749 section
 * 2.3.1, because an AP_ID is a URI with a colon), and with the client certificate that it is
 * registered with. Requests pass the admission of the signature interface: a start is new work.
 * Instances of others, unknown ones and those whose retention is over are answered alike.
 */
import type { IncomingMessage } from 'node:http';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { FaultCode } from '../protocol/fault.ts';
import type { Operation } from '../protocol/parse.ts';
import { type ApplicationProviders, rateExceeded } from '../registry/application-providers.ts';
import type { BodyLimits } from '../request-body.ts';
import { processName } from '../workflows/stock-process.ts';
import type { SendOutcome, StartResult, Workflows, WorkflowView } from '../workflows/workflows.ts';
import { type Admission, busyFault, type Place } from './admission.ts';
import { createJsonReader } from './body.ts';
import type { HttpLog } from './log.ts';
import { type Evidence, printable } from './operation.ts';
import { answerType } from './present.ts';
import { retryHeader } from './refusal.ts';
import { createWorkflowStreams, presentWorkflow } from './workflow-stream.ts';

/** `incoming` is there when the request came over a socket. */
export interface WorkflowBindings {
  readonly incoming?: IncomingMessage;
}
type RouteContext = Context<{ Bindings: WorkflowBindings }>;

/** Status, code for programs, sentence for people, and the fault that the log counts it as. */
type Refusal = readonly [status: number, error: string, message: string, fault: FaultCode];

const unauthorized: Refusal = [401, 'unauthorized', 'AP_ID and AP_PWD are wrong, or missing', 104];
const tooOften: Refusal = [429, 'too-many', 'Too many requests: try again later', 104];
const busy: Refusal = [503, 'busy', busyFault.detail, 900];
const unknown: Refusal = [404, 'not-found', 'There is no such instance', 101];
const unknownWorkflow: Refusal = [404, 'not-found', 'There is no such workflow', 101];
const conflict: Refusal = [409, 'conflict', 'Another instance was started under this id', 101];
const refusedEvent: Refusal = [409, 'refused', 'The instance takes no such event in its state', 101];
const unexpected: Refusal = [500, 'internal', 'The service had an error', 900];
const stopping: Refusal = [503, 'stopping', 'This process is stopping', 900];
const tooManyStreams: Refusal = [429, 'too-many', 'There are too many streams open', 104];
const invalid = (message: string): Refusal => [400, 'bad-request', message, 101];

const maxKeyLength = 200;
const maxReason = 500;

const startBody = z.strictObject({ id: z.string().optional(), input: z.unknown() });
const eventBody = z.looseObject({ type: z.string().min(1).max(200) });

const json = (body: object, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': answerType, 'cache-control': 'no-store', ...headers },
  });

const refusalHeaders: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': 'Basic realm="AP_ID and AP_PWD", charset="UTF-8"' },
  429: retryHeader,
  503: retryHeader,
};

const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));

/** @returns Undefined for a header that is none, or cannot be decoded. */
const readBasic = (header: string | undefined): { apId: string; apPassword: string } | undefined => {
  const [, base64 = ''] = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(header ?? '') ?? [];
  const [apId = '', ...password] = Buffer.from(base64, 'base64').toString('utf8').split(':');
  try {
    return apId === '' ? undefined : { apId: decoded(apId), apPassword: decoded(password.join(':')) };
  } catch {
    return undefined;
  }
};

export interface WorkflowRoutesOptions {
  readonly workflows: Pick<Workflows, 'start' | 'find' | 'openSigners' | 'send' | 'cancel'>;
  /** @returns The address of a signer's page. */
  readonly signerLink: (instance: string, linkVersion: number) => string | undefined;
  readonly providers: Pick<ApplicationProviders, 'authorize'>;
  readonly admission: Admission;
  readonly evidenceOf: (incoming: IncomingMessage | undefined) => Evidence;
  readonly limits: BodyLimits;
  readonly now: () => number;
  readonly log: HttpLog;
}

type Answered = Response | Refusal;
type JsonRead = { readonly value: unknown } | Refusal;
/** @param body Undefined for a request that has none. */
type Work = (apId: string, body: unknown) => Promise<Answered>;

const readNothing = async (): Promise<JsonRead> => ({ value: undefined });

export const createWorkflowRoutes = (options: WorkflowRoutesOptions) => {
  const { workflows, signerLink, providers, admission, evidenceOf, limits, now, log } = options;
  const streams = createWorkflowStreams(workflows, log);

  const authorize = async (
    c: RouteContext,
    operation: Operation,
    credentials: { readonly apId: string; readonly apPassword: string },
  ): Promise<{ readonly place: Place } | Refusal> => {
    const { apId } = credentials;
    let place = await admission.enter(operation, apId);
    if (place === undefined) return busy;
    const entered = place;
    const proof = async () =>
      providers.authorize(
        { ...credentials, apPassword: credentials.apPassword || undefined, ...evidenceOf(c.env?.incoming) },
        {
          stepAside: () => place?.stepAside(),
          comeBack: async () => {
            place = await admission.enter(operation, apId);
            return place === undefined ? { ok: false, fault: busyFault } : { ok: true, value: undefined };
          },
        },
      );
    const proven = await proof().catch((error: unknown) => {
      // Redis is away: the call could not be counted.
      place?.leave();
      throw error;
    });
    if (proven.ok) return { place: place ?? entered };
    place?.leave();
    if (proven.fault === busyFault) return busy;
    return proven.fault === rateExceeded ? tooOften : unauthorized;
  };

  const readBody = createJsonReader(limits);

  const readJson = async (c: RouteContext): Promise<JsonRead> => {
    const read = await readBody(c);
    if (read.ok) return { value: read.value };
    const { code, detail } = read.fault;
    return code === 103 ? [413, 'too-large', detail, 103] : invalid(detail);
  };

  const answer = async (
    c: RouteContext,
    operation: Operation,
    read: (c: RouteContext) => Promise<JsonRead>,
    work: Work,
  ): Promise<Answered> => {
    const credentials = readBasic(c.req.header('authorization'));
    if (credentials === undefined) return unauthorized;
    if (admission.refuses(operation)) return busy;
    // Before the request has a place: a body may be slow to come.
    const body = await read(c);
    const caller = await authorize(c, operation, credentials);
    if (!('place' in caller)) return caller;
    try {
      return 'value' in body ? await work(credentials.apId, body.value) : body;
    } finally {
      caller.place.leave();
    }
  };

  /**
   * @param path As it is logged: an id or a name may be anything that a caller has sent.
   * @param read Its body: `readJson`, or `readNothing`.
   */
  const serve = async (
    c: RouteContext,
    path: string,
    operation: Operation,
    read: (c: RouteContext) => Promise<JsonRead>,
    work: Work,
  ): Promise<Response> => {
    const started = now();
    const apId = readBasic(c.req.header('authorization'))?.apId;
    const answered = await answer(c, operation, read, work).catch((error: unknown): Refusal => {
      log.trouble(error instanceof Error ? error : new Error(String(error)));
      return unexpected;
    });
    const about = { path, durationMs: now() - started, ...(apId !== undefined && { apId: printable(apId) }) };
    if (answered instanceof Response) {
      log.answered({ ...about, status: answered.status });
      return answered;
    }
    const [status, error, message, fault] = answered;
    // The admission counts what it refuses.
    if (answered !== busy) log.answered({ ...about, status, fault, refused: message });
    return json({ error, message }, status, refusalHeaders[status]);
  };

  const presentStart = (result: StartResult): Answered => {
    switch (result.kind) {
      case 'started':
      case 'known': {
        const { view } = result;
        const location = `/workflows/${view.name}/${view.id}`;
        return json(presentWorkflow(view), result.kind === 'started' ? 201 : 200, { location });
      }
      case 'conflict':
        return conflict;
      case 'unknown':
        return unknownWorkflow;
      case 'invalid':
        return invalid(result.message);
    }
  };

  const presentSent = (result: SendOutcome): Answered => {
    switch (result.kind) {
      case 'taken':
        return json({ result: 'taken' }, 202);
      case 'refused':
        return refusedEvent;
      case 'unknown':
        return unknown;
      case 'busy':
        return busy;
      case 'invalid':
        return invalid(result.message);
    }
  };

  const linksOf = async (apId: string, { name, id, status }: WorkflowView) => {
    if (name !== processName || status !== 'open') return [];
    const signers = await workflows.openSigners(apId, id);
    return signers.map(({ step, key, instance, linkVersion }) => ({
      ...{ step, key, link: signerLink(instance, linkVersion) },
    }));
  };

  const follow = async (c: RouteContext, apId: string): Promise<Answered> => {
    const { name = '', id = '' } = c.req.param() as { name?: string; id?: string };
    const stream = await streams.open(c, apId, name, id);
    if (stream instanceof Response) return stream;
    switch (stream) {
      case 'stopping':
        return stopping;
      case 'too-many':
        return tooManyStreams;
      case 'unknown':
        return unknown;
    }
  };

  const routes = new Hono<{ Bindings: WorkflowBindings }>();
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
      return view === undefined ? unknown : json(presentWorkflow(view, await linksOf(apId, view)));
    }),
  );

  routes.delete(at, (c) =>
    serve(c, '/workflows/{name}/{id}', 'status', readNothing, async (apId) => {
      const reason = c.req.query('reason');
      if (reason !== undefined && (reason.trim() === '' || reason.length > maxReason))
        return invalid(`reason must have 1 to ${maxReason} characters`);
      const order = { by: 'application', reason };
      const result = await workflows.cancel(apId, c.req.param('name'), c.req.param('id'), order);
      if (result === 'cancelled') return json({ result }, 202);
      if (result === 'refused') return refusedEvent;
      return result === 'busy' ? busy : unknown;
    }),
  );

  routes.post(`${at}/events`, (c) =>
    serve(c, '/workflows/{name}/{id}/events', 'status', readJson, async (apId, body) => {
      const read = eventBody.safeParse(body);
      if (!read.success) return invalid('type must be the type of an event');
      const key = c.req.header('idempotency-key');
      if (key !== undefined && (key === '' || key.length > maxKeyLength))
        return invalid(`Idempotency-Key must have 1 to ${maxKeyLength} characters`);
      return presentSent(
        await workflows.send(apId, c.req.param('name'), c.req.param('id'), read.data, key && `app/${key}`),
      );
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
