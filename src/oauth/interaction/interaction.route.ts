/**
 * The browser's part of a login, between the library's authorisation endpoint and its resume
 * address.
 *
 * A GET shows the page and begins nothing, because previews and prefetchers follow links too. It
 * may restart an attempt after a crash (`begin.ts`). Forms are answered by a redirect to the page.
 * The way back to the client is a GET, because the policy bounds where a form may lead.
 *
 * All state is in Redis, so any process can answer any request.
 */

import { createHmac } from 'node:crypto';
import { type Context, Hono, type Next } from 'hono';
import { renderSVG } from 'uqr';
import { isRedisAway, toError } from '../../../packages/engine/src/redis/to-error.ts';
import { isEqual } from '../../../packages/pki/src/is-equal.ts';
import { askedIn, serveAsset } from '../../http/pages/assets.ts';
import { createChangeStreams } from '../../http/pages/change-streams.ts';
import { readPageForm } from '../../http/pages/form.ts';
import { answerJson, answerPage, goTo, pageHeaders } from '../../http/pages/headers.ts';
import { chooseLanguage } from '../../http/pages/language.ts';
import type { OauthDeps, OauthEnvironment } from '../deps.ts';
import { newTrace } from '../error-codes.ts';
import { loginPage } from '../pages/login-page.ts';
import { frameFor, noticePage } from '../pages/page.ts';
import type { NoticeCause, NumberError } from '../pages/views.ts';
import { storeAway } from '../store-away.ts';
import type { Tenant } from '../tenant.ts';
import { type Action, createActions, type Submission } from './actions.ts';
import { createBeginning, type FormError } from './begin.ts';
import {
  createJoin,
  type DeviceStart,
  type JoinLogin,
  type ShownLogin,
  startRuleOf,
} from './device-start.ts';
import { createDeparture, type Looked } from './ending.ts';
import { progressOf } from './facts.ts';
import { findStanding, waitForChange } from './standing.ts';
import { viewOf } from './view.ts';
import { openVisit, type Visit } from './visit.ts';

/**
 * Each form carries an HMAC over interaction and round (`facts.ts`), so another site cannot send
 * it, also from a browser without SameSite cookies.
 */
const macOf = (key: Uint8Array, uid: string, round: number): Buffer =>
  createHmac('sha256', key).update(`form ${round} ${uid}`).digest();

/** `<round>.<43 base64url characters>` */
const formToken = (key: Uint8Array, uid: string, round: number): string =>
  `${round}.${macOf(key, uid, round).toString('base64url')}`;

/** @returns The round of the form; undefined when the token is not of this interaction. */
const roundOfForm = (key: Uint8Array, uid: string, token: string): number | undefined => {
  const [, round, mac] = /^(\d{1,3})\.([\w-]{43})$/.exec(token) ?? [];
  if (round === undefined || mac === undefined) return undefined;
  const right = macOf(key, uid, Number(round));
  return isEqual(Buffer.from(mac, 'base64url'), right) ? Number(round) : undefined;
};

type RouteContext = Context<OauthEnvironment>;

export interface InteractionOptions
  extends Omit<OauthDeps, 'checkSecret' | 'subscribers' | 'extensions'> {
  /** Key of the forms and of one-time passwords; 32 bytes. */
  readonly csrfKey: Uint8Array;
  /** Aborted when this process is about to stop. */
  readonly stopping: AbortSignal;
}

type LoginForm = Pick<Submission, 'round' | 'field'>;

const maxFormBytes = 4096;

/** A later try may succeed. */
const laterStatuses: ReadonlyMap<NumberError, number> = new Map([
  ['limited', 429],
  ['busy', 503],
]);
const closedStatuses = { done: 200, 'login-expired': 404, 'cookie-missing': 400 } as const;

export const createInteractionRoutes = (
  options: InteractionOptions,
): { readonly routes: Hono<OauthEnvironment>; readonly join: JoinLogin } => {
  const { tenants, logins, settings, isTestNumber, addressOf, now, log, csrfKey, stopping } =
    options;
  const codeKey = createHmac('sha256', csrfKey).update('one-time passwords').digest();
  const beginning = createBeginning(codeKey, options);
  const actions = createActions(beginning, codeKey, options);
  const openStream = createChangeStreams({ stopping, onError: log.trouble });
  const depart = createDeparture(stopping, options);
  const deviceStart = (): DeviceStart | undefined => options.deviceStart?.();
  /** @returns Undefined where no device may begin the login. */
  const startFor = ({ client }: Visit): DeviceStart | undefined =>
    client.phoneStart === 'off' ? undefined : deviceStart();
  const mayJoin = (visit: Visit): boolean => startFor(visit) !== undefined;
  const shownLogin = ({ tenant, uid }: Visit, round: number): ShownLogin => ({
    tenant: tenant.id,
    uid,
    round,
    origin: new URL(tenant.issuer).origin,
  });

  const notice = (
    c: RouteContext,
    tenant: Tenant,
    cause: NoticeCause,
    status: number,
  ): Response => {
    const language = chooseLanguage(undefined, c.req.header('accept-language'));
    const frame = frameFor(tenant.settings, tenant.path, language);
    return answerPage(noticePage(frame, { kind: 'error', cause, reference: newTrace() }), status);
  };

  const look = async (visit: Visit): Promise<Looked> => {
    const progress = progressOf(await visit.facts.read(visit.uid));
    return {
      progress,
      standing: await findStanding(progress, { logins, acrValues: visit.acrValues, now }),
    };
  };

  const show = (
    visit: Visit,
    { progress, standing }: Looked,
    formError?: FormError,
    status = 200,
    headers: Readonly<Record<string, string>> = {},
  ): Response => {
    const view = viewOf(standing, {
      visit,
      csrf: formToken(csrfKey, visit.uid, progress.round),
      progress,
      now: now(),
      promptSeconds: settings.promptSeconds,
      formError,
      phoneStart: startRuleOf(visit.client, deviceStart()),
    });
    const { tenant, client } = visit;
    const language = progress.attempt?.language ?? visit.language;
    const frame = frameFor(tenant.settings, tenant.path, language, client);
    return answerPage(loginPage(frame, view), status, headers);
  };

  const showPage = async (visit: Visit): Promise<Response> => {
    const looked = await look(visit);
    const { standing } = looked;
    if (standing.kind !== 'waiting' || standing.attempt.start !== undefined)
      return show(visit, looked);
    await beginning.startAgain(visit, standing.attempt);
    return show(visit, await look(visit));
  };

  const readLoginForm = async (c: RouteContext, visit: Visit): Promise<LoginForm | Response> => {
    const { origin } = new URL(visit.tenant.issuer);
    const limits = { maxBytes: maxFormBytes, timeoutMs: options.body.timeoutMs };
    const form = await readPageForm(c, origin, limits);
    const refuse = (status: number): Response =>
      notice(c, visit.tenant, 'request-unusable', status);
    if (typeof form === 'number') return refuse(form);
    const field = (name: string): string => form.get(name) ?? '';
    const round = roundOfForm(csrfKey, visit.uid, field('csrf'));
    return round === undefined ? refuse(403) : { round, field };
  };

  const submit =
    (act: Action) =>
    async (visit: Visit, c: RouteContext): Promise<Response> => {
      const form = await readLoginForm(c, visit);
      if (form instanceof Response) return form;
      const formError = await act({
        ...form,
        visit,
        look: async () => (await look(visit)).standing,
      });
      if (formError === undefined) return goTo(visit.pagePath);
      const { problem, retryAfter } = formError;
      const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
      return show(visit, await look(visit), formError, laterStatuses.get(problem) ?? 422, headers);
    };

  const showCode = async (visit: Visit): Promise<Response> => {
    const { progress, standing } = await look(visit);
    const start = startFor(visit);
    if (start === undefined || standing.kind !== 'number')
      return new Response(null, { status: 404, headers: pageHeaders });
    // Four light modules around it: ISO/IEC 18004. On a dark page nothing else is light.
    const svg = renderSVG(start.forQr(shownLogin(visit, progress.round)), { border: 4 });
    return new Response(svg, { headers: { ...pageHeaders, 'content-type': 'image/svg+xml' } });
  };

  /** The button: the phone runs in this browser. */
  const openPhone = async (visit: Visit, c: RouteContext): Promise<Response> => {
    const form = await readLoginForm(c, visit);
    if (form instanceof Response) return form;
    const start = startFor(visit);
    if (start === undefined) return goTo(visit.pagePath);
    const { link, cookie } = start.forDevice(shownLogin(visit, form.round));
    const opened = goTo(link);
    opened.headers.set('set-cookie', cookie);
    return opened;
  };

  const leave = async (visit: Visit, c: RouteContext): Promise<Response> => {
    const departure = await depart(visit, await look(visit));
    if (departure === 'done') return notice(c, visit.tenant, 'login-expired', 200);
    return goTo(departure === 'not-yet' ? visit.pagePath : departure.to);
  };

  const events = (visit: Visit, c: RouteContext): Response =>
    openStream(c, visit.uid, (gone) =>
      waitForChange(async () => (await look(visit)).standing, {
        logins,
        now,
        gone,
        mayJoin: mayJoin(visit),
      }),
    );

  const state = async (visit: Visit): Promise<Response> => {
    const { kind } = (await look(visit)).standing;
    const isOpen = kind === 'waiting' || (kind === 'number' && mayJoin(visit));
    return answerJson({ state: isOpen ? 'open' : 'ended' });
  };

  const goToPage = ({ pagePath }: Visit): Response => goTo(pagePath);

  type Handler = (visit: Visit, c: RouteContext) => Promise<Response> | Response;

  /** Unknown tenants are left to later routes. */
  const tenantOf = (c: RouteContext): Tenant | undefined => tenants.at(c.req.param('tenant'));

  const withVisit =
    (handle: Handler) =>
    async (c: RouteContext, next: Next): Promise<Response | undefined> => {
      const tenant = tenantOf(c);
      const { incoming, outgoing } = c.env;
      const uid = c.req.param('uid');
      if (tenant === undefined || uid === undefined) {
        await next();
        return undefined;
      }
      if (incoming === undefined || outgoing === undefined)
        throw new Error('A login needs a socket');
      try {
        const address = addressOf(incoming);
        const opened = await openVisit(tenant, uid, incoming, outgoing, address, {
          isTestNumber,
          now,
        });
        if (typeof opened === 'object') return await handle(opened, c);
        return notice(
          c,
          tenant,
          opened === 'done' ? 'login-expired' : opened,
          closedStatuses[opened],
        );
      } catch (error) {
        log.trouble(toError(error));
        if (!isRedisAway(error)) return notice(c, tenant, 'internal', 500);
        const told = notice(c, tenant, 'internal', storeAway.status);
        told.headers.set('retry-after', String(storeAway.retryAfter));
        return told;
      }
    };

  const routes = new Hono<OauthEnvironment>();
  for (const base of ['/oidc', '/oidc/t/:tenant']) {
    const page = `${base}/interaction/:uid`;
    routes.get(page, withVisit(showPage));
    routes.get(`${page}/events`, withVisit(events));
    routes.get(`${page}/state`, withVisit(state));
    routes.get(`${page}/code.svg`, withVisit(showCode));
    routes.get(`${page}/finish`, withVisit(leave));
    routes.get(`${page}/return`, withVisit(leave));
    // A browser reloads or returns to the address of a form.
    routes.post(`${page}/phone`, withVisit(openPhone));
    routes.get(`${page}/phone`, withVisit(goToPage));
    for (const [name, act] of Object.entries(actions)) {
      routes.post(`${page}/${name}`, withVisit(submit(act)));
      routes.get(`${page}/${name}`, withVisit(goToPage));
    }
    routes.get(`${base}/assets/:name`, async (c, next) => {
      const tenant = tenantOf(c);
      const asset = tenant && serveAsset(c.req.param('name'), tenant.settings.branding, askedIn(c));
      return asset ?? next();
    });
  }
  return { routes, join: createJoin(beginning, options) };
};
