/**
 * The refusals of application requests beside the signature interface (application-route.ts).
 */
import type { FaultCode } from '../../packages/protocol/src/fault.ts';
import { busyFault, unableFault } from './admission.ts';
import { jsonResponse } from './present.ts';
import { retryHeader } from './refusal.ts';

/** Status, code for programs, sentence for people, and the fault that the log counts it as. */
export type Refusal = readonly [status: number, error: string, message: string, fault: FaultCode];

/** The admission has refused the request, and counts and logs it. */
export const busy: Refusal = [503, 'busy', busyFault.detail, 900];
export const unable: Refusal = [503, 'busy', unableFault.detail, 900];
/** The same answer as {@link busy}, for a refusal that did not come from the admission. */
export const noRoom: Refusal = [...busy];
export const away: Refusal = [
  503,
  'unavailable',
  'The storage of the service is away, and it may have been done: send it again, under the same id or key',
  900,
];
export const stopping: Refusal = [503, 'stopping', 'This process is stopping', 900];
export const unexpected: Refusal = [500, 'internal', 'The service had an error', 900];
export const unauthorized: Refusal = [
  401,
  'unauthorized',
  'AP_ID and AP_PWD are wrong, or missing',
  104,
];
export const unencoded: Refusal = [
  401,
  'unauthorized',
  'AP_ID and AP_PWD must be form-urlencoded (RFC 6749 section 2.3.1): the colon of an AP_ID is %3A',
  104,
];
export const tooOften: Refusal = [429, 'too-many', 'Too many requests: try again later', 104];
export const invalid = (message: string): Refusal => [400, 'bad-request', message, 101];

export const json = (
  body: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response => jsonResponse(status, body, { 'cache-control': 'no-store', ...headers });

const headersOf: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': 'Basic realm="AP_ID and AP_PWD", charset="UTF-8"' },
  429: retryHeader,
  503: retryHeader,
};

export const presentRefusal = ([status, error, message]: Refusal): Response =>
  json({ error, message }, status, headersOf[status]);
