/**
 * The signature interface: one URL for each operation, and one for all of them, where the wrapper
 * of the body decides.
 *
 * A POST is answered with 200 and a response wrapper, or with 500 and a Fault. A bug or a broken
 * dependency is fault 900; only the log has the details.
 */
import type { IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import { type Checked, fault, ok } from '../../packages/protocol/src/fault.ts';
import { type Operation, type Protocol, wrappers } from '../../packages/protocol/src/parse.ts';
import type { Evidence } from '../registry/application-providers.ts';
import { isLogin } from '../registry/login-ap-id.ts';
import { isNotTakenIn } from '../transactions/transactions.ts';
import { type Admission, busyFault, type Place } from './admission.ts';
import { createJsonReader, type HttpEnvironment } from './body.ts';
import type { AnsweredEntry, HttpLog } from './log.ts';
import {
  type Answer,
  endAnswer,
  faultAnswer,
  type OperationHandler,
  printable,
} from './operation.ts';
import type { BodyLimits } from './pages/request-body.ts';
import { faultResponse, jsonResponse } from './present.ts';
import { refusalPauseMs, retryHeader } from './refusal.ts';

/**
 * The AP_ID of a request before any check. Undefined for the AP_ID of a login, which is internal:
 * requests from outside that claim it must not count as logins.
 */
const claimedApId = (body: unknown, operation: Operation): string | undefined => {
  const member = (of: unknown, name: string): unknown =>
    (Object(of) as Record<string, unknown>)[name];
  const apId = member(member(member(body, wrappers[operation]), 'AP_Info'), 'AP_ID');
  return typeof apId === 'string' && !isLogin(apId) ? apId : undefined;
};

export interface ServiceRoutesOptions {
  readonly protocol: Protocol;
  readonly operations: Readonly<Record<Operation, OperationHandler>>;
  readonly evidenceOf: (incoming: IncomingMessage | undefined) => Evidence;
  readonly limits: BodyLimits;
  readonly admission: Admission;
  readonly now: () => number;
  readonly log: HttpLog;
}

export const createServiceRoutes = (deps: ServiceRoutesOptions) => {
  const { protocol, operations, evidenceOf, limits, admission, now, log } = deps;
  const routes = new Hono<HttpEnvironment>();

  const readJson = createJsonReader(limits);

  /** @param expected The operation of the URL; undefined at the URL that serves all operations. */
  const read = (
    body: Checked<unknown>,
    expected: Operation | undefined,
  ): Checked<{ readonly body: unknown; readonly operation: Operation }> => {
    if (!body.ok) return body;
    // At an operation's own URL its parser refuses other wrappers.
    const operation = expected === undefined ? protocol.operationOf(body.value) : ok(expected);
    return operation.ok ? ok({ body: body.value, operation: operation.value }) : operation;
  };

  const serve = (path: string, expected: Operation | undefined): void => {
    // One function: each further step would cost every request another promise.
    // Some clients end addresses in a slash.
    routes.on('POST', [path, `${path}/`], async (c) => {
      if (expected !== undefined && admission.refuses(expected)) return refuse(expected);
      const started = now();
      let answer: Answer;
      let gone: AbortSignal | undefined;
      let place: Place | undefined;
      let claimed: Pick<AnsweredEntry, 'operation' | 'apId'> = { operation: expected };
      try {
        const asked = read(await readJson(c), expected);
        if (asked.ok) {
          const { body, operation } = asked.value;
          const apId = claimedApId(body, operation);
          claimed = { operation, ...(apId !== undefined && { apId }) };
          const entered = admission.enter(operation, apId);
          place = entered instanceof Promise ? await entered : entered;
          if (place === undefined) return refuse(operation);
          answer = await operations[operation](body, () => evidenceOf(c.env?.incoming), {
            onAccepted: () => {
              place?.onAccepted();
              // Made only when needed: most requests do not wait.
              gone = c.req.raw.signal;
              return gone;
            },
            stepAside: () => place?.stepAside(),
            comeBack: async () => {
              place = await admission.enter(operation, apId);
              return place === undefined
                ? { ok: false, fault: admission.refusalOf(operation) }
                : ok(undefined);
            },
          });
        } else answer = faultAnswer(asked.fault);
      } catch (error) {
        log.trouble(error instanceof Error ? error : new Error(String(error)));
        // For a status request fault 900 could also be the end of the transaction; Retry-After
        // says that it is not. A request that Redis has refused was not accepted.
        answer = isNotTakenIn(error)
          ? { ...faultAnswer(busyFault), retryLater: true }
          : // Accepted, so its transaction goes on.
            {
              ...(gone ? endAnswer : faultAnswer)(fault(900), {}),
              retryLater: claimed.operation === 'status',
            };
      } finally {
        place?.leave();
      }
      // A caller that has hung up gets no answer.
      if (!gone?.aborted)
        log.answered({
          path,
          status: answer.status,
          durationMs: now() - started,
          operation: claimed.operation,
          ...(answer.trace.refused !== undefined &&
            claimed.apId && { apId: printable(claimed.apId) }),
          ...answer.trace,
        });
      return jsonResponse(answer.status, answer.body, answer.retryLater ? retryHeader : undefined);
    });
  };

  // Refusals are not logged one by one: a log line costs more than the refusal.
  const refuse = (operation: Operation): Promise<Response> =>
    new Promise((resolve) =>
      setTimeout(
        () => resolve(faultResponse(500, admission.refusalOf(operation), retryHeader)),
        refusalPauseMs,
      ),
    );

  serve('/rest/service', undefined);
  for (const name of Object.keys(wrappers) as Operation[]) serve(`/rest/service/${name}`, name);
  const paths = new Set(routes.routes.map(({ path }) => path));
  return {
    routes,
    /**
     * Answers requests that no route took. Not a route itself: where two routes match, the library
     * runs each request through both.
     *
     * @returns Undefined for a path outside this interface.
     */
    refuseOther: (path: string): Response | undefined => {
      const isKnown = paths.has(path);
      if (!isKnown && !path.startsWith('/rest/')) return undefined;
      const [status, refused] = isKnown ? [405, 'Use POST'] : [404, 'There is no such operation'];
      log.answered({
        path: isKnown ? path : '/rest/*',
        status,
        durationMs: 0,
        fault: 101,
        refused,
      });
      return faultResponse(status, fault(101, refused), isKnown ? { allow: 'POST' } : undefined);
    },
  };
};
