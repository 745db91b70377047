/**
 * The page of one signer, `/tasks/{token}`: who asks, what is signed, Sign and Decline.
 *
 * A GET shows the page and asks nobody: previews and prefetchers follow links too. Forms are
 * answered by a redirect to the page. All state is in Redis, so any process can answer.
 *
 * Every link that leads to nothing gets the same page: malformed, guessed, revoked or past.
 */
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Context, Hono } from 'hono';
import { toError } from '../../../packages/engine/src/redis/to-error.ts';
import type { PageFrame } from '../../../src/http/pages/assets.ts';
import { createChangeStreams } from '../../../src/http/pages/change-streams.ts';
import { type Parameters, readPageForm } from '../../../src/http/pages/form.ts';
import { answerJson, answerPage, goTo } from '../../../src/http/pages/headers.ts';
import { chooseLanguage } from '../../../src/http/pages/language.ts';
import type { BodyLimits } from '../../../src/http/pages/request-body.ts';
import {
  limitsFrom,
  type RateLimiter,
  type Source,
  takeAll,
} from '../../../src/registry/rate-limiter.ts';
import type { AdditionPages } from '../addition.ts';
import type { Link, TaskLinks } from './links.ts';
import { type NoticeCause, type TaskView, taskNotice, taskPage } from './task-page.ts';
import { maxReasonLength, type Task, type Tasks } from './tasks.ts';

export interface TaskRoutesOptions {
  readonly tasks: Tasks;
  readonly links: TaskLinks;
  /** Of another part, where one adds something to what is signed. */
  readonly section?: AdditionPages['section'] | undefined;
  /** How the pages of this service look. Asked at the first request. */
  readonly frame: () => Pick<PageFrame, 'tenantName' | 'branding' | 'path'>;
  /** Asked at the first form: `https://sign.example.com`. */
  readonly publicUrl: () => string;
  readonly limiter: RateLimiter;
  readonly addressOf: (incoming: IncomingMessage | undefined) => Source;
  readonly body: BodyLimits;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

export interface TaskEnvironment {
  Bindings: { readonly incoming?: IncomingMessage };
}
type RouteContext = Context<TaskEnvironment>;

interface Visit {
  readonly c: RouteContext;
  readonly link: Link;
  readonly pagePath: string;
}

/** Links that lead to nothing, from one address. */
const maxWrong = { requests: 20, perSeconds: 60 };
/** Orders on one page. Each stays with its signer. */
const maxOrders = { requests: 10, perSeconds: 60 };
const maxFormBytes = 8192;
const lookEveryMs = 500;

export const createTaskRoutes = (options: TaskRoutesOptions) => {
  const { tasks, links, limiter, addressOf, body, now, onError } = options;
  const stopping = new AbortController();
  const openStream = createChangeStreams({ stopping: stopping.signal, onError });

  const frameFor = (c: RouteContext, task?: Task): PageFrame => ({
    ...options.frame(),
    language: task?.language ?? chooseLanguage(undefined, c.req.header('accept-language')),
  });

  const notice = (c: RouteContext, cause: NoticeCause, status: number): Response =>
    answerPage(taskNotice(frameFor(c), cause), status);

  const refuseForNow = (c: RouteContext, seconds: number): Response =>
    answerPage(taskNotice(frameFor(c), 'limited'), 429, { 'retry-after': String(seconds) });

  /** Wrong links are counted, right ones are not. */
  const refuseLink = async (c: RouteContext): Promise<Response> => {
    const keyOf = (bucket: string): string => `tasks:wrong:${links.hashOf(bucket)}`;
    const empty = await takeAll(
      limiter,
      limitsFrom(addressOf(c.env?.incoming), maxWrong, undefined, keyOf),
    );
    return empty === undefined ? notice(c, 'gone', 404) : refuseForNow(c, empty.seconds);
  };

  const show = (
    { c, link, pagePath }: Visit,
    task: Task,
    formError?: TaskView['formError'],
    status = 200,
  ): Response => {
    const frame = frameFor(c, task);
    const section = task.addition && options.section?.(task.addition, pagePath, frame.language);
    const csrf = links.formToken(link);
    return answerPage(
      taskPage(frame, { task, pagePath, csrf, now: now(), formError, section }),
      status,
    );
  };

  /** @returns The fields, or the status of the refusal. */
  const readForm = async (
    c: RouteContext,
    link: Link,
  ): Promise<ReadonlyMap<string, string> | number> => {
    const { origin } = new URL(options.publicUrl());
    const form = await readPageForm(c, origin, {
      maxBytes: maxFormBytes,
      timeoutMs: body.timeoutMs,
    });
    return typeof form === 'number' || links.isFormToken(link, form.get('csrf') ?? '') ? form : 403;
  };

  type Action = (link: Link, form: Parameters) => Promise<TaskView['formError']>;

  const service = { problem: 'service' } as const;
  const actions: Readonly<Record<'sign' | 'decline', Action>> = {
    sign: async (link) => ((await tasks.sign(link)) === 'busy' ? service : undefined),
    decline: async (link, form) => {
      const reason = (form.get('reason') ?? '').trim();
      if (reason.length > maxReasonLength) return { problem: 'tooLong', reason };
      const done = await tasks.decline(link, reason === '' ? undefined : reason);
      return done === 'busy' ? { ...service, reason } : undefined;
    },
  };

  const submit = (name: 'sign' | 'decline') => async (visit: Visit, task: Task) => {
    const form = await readForm(visit.c, visit.link);
    if (typeof form === 'number') return notice(visit.c, 'unusable', form);
    if (task.state.kind === 'ended') return goTo(visit.pagePath);
    const seconds = await limiter.takeOrWait(
      `tasks:orders:${links.hashOf(visit.link.instance)}`,
      maxOrders,
    );
    if (seconds > 0) return refuseForNow(visit.c, seconds);
    const formError = await actions[name](visit.link, form);
    if (formError === undefined) return goTo(visit.pagePath);
    const again = await tasks.find(visit.link);
    return again?.state.kind === 'open'
      ? show(visit, again, formError, formError === service ? 503 : 422)
      : goTo(visit.pagePath);
  };

  const events = ({ c, link }: Visit): Response => {
    return openStream(c, link.instance, async (gone) => {
      while (!gone.aborted) {
        if (!(await tasks.isAsking(link))) return true;
        await delay(lookEveryMs, undefined, { signal: gone }).catch(() => undefined);
      }
      return false;
    });
  };

  const withTask =
    (handle: (visit: Visit, task: Task) => Promise<Response> | Response) =>
    async (c: RouteContext): Promise<Response> => {
      try {
        const token = c.req.param('token') ?? '';
        const link = links.read(token);
        const task = link && (await tasks.find(link));
        if (link === undefined || task === undefined) return await refuseLink(c);
        return await handle({ c, link, pagePath: `/tasks/${token}` }, task);
      } catch (error) {
        onError(toError(error));
        return notice(c, 'internal', 500);
      }
    };

  const page = '/tasks/:token';
  const routes = new Hono<TaskEnvironment>();
  routes.get(page, withTask(show));
  routes.get(`${page}/events`, withTask(events));
  routes.get(
    `${page}/state`,
    withTask((_, task) => answerJson({ state: task.state.kind === 'asking' ? 'open' : 'ended' })),
  );
  for (const name of ['sign', 'decline'] as const) {
    routes.post(`${page}/${name}`, withTask(submit(name)));
    // A browser reloads or returns to the address of a form.
    routes.get(
      `${page}/${name}`,
      withTask(({ pagePath }) => goTo(pagePath)),
    );
  }
  // No other answer may show such a path.
  routes.all('/tasks/*', (c) => notice(c, 'gone', 404));
  return {
    routes,
    /** Ends the waiting pages of this process; the browsers connect to another one. */
    endWaiting: (): void => stopping.abort(),
  };
};
