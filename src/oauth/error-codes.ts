/**
 * The stable codes in `error_description`: `mid_<group>_<code>_<trace> - <text>`. Clients and support staff tell causes apart
 * by them; the OAuth error beside them is coarser.
 */
import { randomBytesOf } from '../pki/random.ts';

export const errorCodes = {
  acrUnknown: ['req', 1010],
  acrMalformed: ['req', 1020],
  localesUnknown: ['req', 1030],
  localesMalformed: ['req', 1040],
  noHints: ['req', 1050],
  badMsisdn: ['req', 1070],
  duplicateMsisdn: ['req', 1080],
  badLoginHint: ['req', 1100],
  badScope: ['req', 1110],
  nothingSent: ['req', 1130],
  otherRequest: ['req', 1900],
  scopeNotAllowed: ['sec', 2010],
  acrNotAllowed: ['sec', 2020],
  parameterNotAllowed: ['sec', 2030],
  rejectedByUser: ['auth', 3010],
  needsActivation: ['auth', 3060],
  noMethod: ['auth', 3080],
  noResponse: ['auth', 3300],
  busyPhone: ['auth', 3310],
  otherAuthentication: ['auth', 3900],
  internal: ['sys', 9900],
} as const satisfies Record<string, readonly ['req' | 'sec' | 'auth' | 'sys', number]>;

export type ErrorCause = keyof typeof errorCodes;

export interface CodedDescription {
  readonly description: string;
  /** For the log: `req_1010`. */
  readonly code: string;
  readonly trace: string;
}

/** Eight characters by which an answer is found again in the log. */
export const newTrace = (): string => randomBytesOf(6).toString('base64url');

/**
 * @param text Printable ASCII without `"` and `\` (RFC 6749 section 5.2); fixed words that name a parameter, never a value.
 */
export const describeError = (cause: ErrorCause, text: string, trace = newTrace()): CodedDescription => {
  const [group, number] = errorCodes[cause];
  return { description: `mid_${group}_${number}_${trace} - ${text}`, code: `${group}_${number}`, trace };
};
