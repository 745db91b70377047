/**
 * Addresses of applications beside the signature interface: workflows, and the proof of a
 * signature.
 *
 * An application proves itself with HTTP Basic, where AP_ID and AP_PWD are form-urlencoded (RFC
 * 6749 section 2.3.1, because an AP_ID is a URI with a colon), and with the client certificate that
 * it is registered with. Requests pass the admission of the signature interface.
 */
import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import type { Operation } from '../../packages/protocol/src/parse.ts';
import {
  type ApplicationProviders,
  type Evidence,
  rateExceeded,
} from '../registry/application-providers.ts';
import { isLogin } from '../registry/login-ap-id.ts';
import { isNotTakenIn, isRedisAway } from '../transactions/transactions.ts';
import { type Admission, isOfAdmission, type Place, unableFault } from './admission.ts';
import {
  away,
  busy,
  invalid,
  noRoom,
  presentRefusal,
  type Refusal,
  tooOften,
  unable,
  unauthorized,
  unencoded,
  unexpected,
} from './application-refusals.ts';
import { createJsonReader, type HttpEnvironment } from './body.ts';
import type { HttpLog } from './log.ts';
import { printable } from './operation.ts';
import type { BodyLimits } from './pages/request-body.ts';

export type RouteContext = Context<HttpEnvironment>;

const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));

/** The scheme of a URI (RFC 3986 3.1). */
const scheme = /^[a-z][a-z0-9+.-]*$/i;

/**
 * An AP_ID that is not encoded (`curl -u mid://ap.example:…`, `urn:example:ap:…`) ends at its first
 * colon: its scheme would be taken for the AP_ID and the rest for the password. Encoded, a password
 * has no slash and no colon. A registered application may send a colon that is not encoded.
 *
 * @returns `unencoded` for such a header; undefined for a missing header or one that cannot be
 *   decoded.
 */
const readBasic = (
  header: string | undefined,
  isRegistered: (apId: string) => boolean,
): { apId: string; apPassword: string } | 'unencoded' | undefined => {
  const [, base64 = ''] = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(header ?? '') ?? [];
  const [apId = '', ...password] = Buffer.from(base64, 'base64').toString('utf8').split(':');
  const mayBeScheme = password[0]?.startsWith('//') || (password.length > 1 && !isRegistered(apId));
  if (scheme.test(apId) && mayBeScheme) return 'unencoded';
  try {
    return apId === ''
      ? undefined
      : { apId: decoded(apId), apPassword: decoded(password.join(':')) };
  } catch {
    return undefined;
  }
};

export interface ApplicationRouteOptions {
  readonly providers: Pick<ApplicationProviders, 'authorize' | 'isRegistered'>;
  readonly admission: Admission;
  readonly evidenceOf: (incoming: IncomingMessage | undefined) => Evidence;
  readonly limits: BodyLimits;
  readonly now: () => number;
  readonly log: HttpLog;
}

export type Answered = Response | Refusal;
type JsonRead = { readonly value: unknown } | Refusal;
/** @param body Undefined for a request that has none. */
type Work = (apId: string, body: unknown) => Promise<Answered>;

export const readNothing = async (): Promise<JsonRead> => ({ value: undefined });

/** For a body that the work reads itself, after the application is proved and beyond its place. */
export const readLater = async (): Promise<JsonRead> => ({ value: undefined });

export const createApplicationRoute = (options: ApplicationRouteOptions) => {
  const { providers, admission, evidenceOf, limits, now, log } = options;

  const refusedBy = (operation: Operation): Refusal =>
    admission.refusalOf(operation) === unableFault ? unable : busy;

  const authorize = async (
    c: RouteContext,
    operation: Operation,
    credentials: { readonly apId: string; readonly apPassword: string },
  ): Promise<{ readonly place: Place } | Refusal> => {
    // The AP_ID of a login is internal: requests from outside that claim it must not count as
    // logins.
    const apId = isLogin(credentials.apId) ? undefined : credentials.apId;
    let place = await admission.enter(operation, apId);
    if (place === undefined) return refusedBy(operation);
    const entered = place;
    const proof = async () =>
      providers.authorize(
        {
          ...credentials,
          apPassword: credentials.apPassword || undefined,
          evidence: () => evidenceOf(c.env?.incoming),
        },
        {
          stepAside: () => place?.stepAside(),
          comeBack: async () => {
            place = await admission.enter(operation, apId);
            return place === undefined
              ? { ok: false, fault: admission.refusalOf(operation) }
              : { ok: true, value: undefined };
          },
        },
      );
    const proven = await proof().catch((error: unknown) => {
      // Without Redis the rate limit could not be checked.
      place?.leave();
      throw error;
    });
    if (proven.ok) return { place: place ?? entered };
    place?.leave();
    if (isOfAdmission(proven.fault)) return refusedBy(operation);
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
    const credentials = readBasic(c.req.header('authorization'), providers.isRegistered);
    if (credentials === undefined) return unauthorized;
    if (credentials === 'unencoded') return unencoded;
    if (admission.refuses(operation)) return refusedBy(operation);
    // Read before the request takes a place, because a body may be slow to come.
    const body = await read(c);
    const caller = await authorize(c, operation, credentials);
    if (!('place' in caller)) return caller;
    // It takes as long as the body does, under limits of its own.
    if (read === readLater) caller.place.stepAside();
    try {
      return 'value' in body ? await work(credentials.apId, body.value) : body;
    } finally {
      caller.place.leave();
    }
  };

  /**
   * @param path The path for the log, without ids and names: a caller may send anything as these.
   * @param read Reads the body: `readJson`, `readNothing`, or `readLater`.
   */
  const serve = async (
    c: RouteContext,
    path: string,
    operation: Operation,
    read: (c: RouteContext) => Promise<JsonRead>,
    work: Work,
  ): Promise<Response> => {
    const started = now();
    const named = readBasic(c.req.header('authorization'), providers.isRegistered);
    const apId = typeof named === 'object' ? named.apId : undefined;
    const answered = await answer(c, operation, read, work).catch((error: unknown): Refusal => {
      log.trouble(error instanceof Error ? error : new Error(String(error)));
      if (isNotTakenIn(error)) return noRoom;
      return isRedisAway(error) ? away : unexpected;
    });
    const about = {
      path,
      durationMs: now() - started,
      ...(apId !== undefined && { apId: printable(apId) }),
    };
    if (answered instanceof Response) {
      log.answered({ ...about, status: answered.status });
      return answered;
    }
    const [status, , message, fault] = answered;
    if (answered !== busy && answered !== unable)
      log.answered({ ...about, status, fault, refused: message });
    return presentRefusal(answered);
  };

  return { serve, readJson };
};
