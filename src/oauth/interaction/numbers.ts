/**
 * Which numbers a person may log in with: those that the client named, and others when the client allows it. A client that
 * may not name numbers has named none. Out of a pushed request alone the client speaks; any other is a link that anybody can
 * write, so it may save a person typing and not take the choice away.
 *
 * Test numbers count only when a client that may do so has named them in a pushed request; one that is typed is not listed.
 * That tells them from numbers that nobody knows, and gives nothing away: outside a sandbox no number is a test number.
 *
 * Source: interface section 5.6.
 */
import { parseLoginHint } from '../login-hint.ts';
import type { NumberProblem } from '../pages/views.ts';

export interface Offer {
  readonly hints: readonly { readonly msisdn: string; readonly default: boolean }[];
  readonly manualInput: boolean;
}

export const offerOf = (
  loginHint: string | undefined,
  { allowed, pushed }: { readonly allowed: boolean; readonly pushed: boolean },
  isTestNumber: (msisdn: string) => boolean,
): Offer => {
  const parsed = loginHint === undefined || !allowed ? undefined : parseLoginHint(loginHint);
  if (parsed === undefined || !parsed.ok) return { hints: [], manualInput: true };
  const hints = parsed.hints.filter(({ msisdn }) => pushed || !isTestNumber(msisdn));
  return { hints, manualInput: !pushed || parsed.enableManualInput || hints.length === 0 };
};

export type Chosen =
  | { readonly ok: true; readonly msisdn: string }
  | { readonly ok: false; readonly problem: NumberProblem };

/** Plus, digits and what people put between them; a hint's JSON is not for people. */
const numberLike = /^\+?[\d\s().\u2010-\u2015/-]+$/;

export const chooseNumber = (
  typed: string,
  { hints, manualInput }: Offer,
  isTestNumber: (msisdn: string) => boolean,
): Chosen => {
  const text = typed.trim();
  if (text === '') return { ok: false, problem: 'missing' };
  if (text.length > 40 || !numberLike.test(text)) return { ok: false, problem: 'malformed' };
  const parsed = parseLoginHint(text.replaceAll(/[\s().\u2010-\u2015/-]/g, ''));
  const msisdn = parsed.ok ? parsed.hints[0]?.msisdn : undefined;
  if (msisdn === undefined) return { ok: false, problem: 'malformed' };
  if (hints.some((hint) => hint.msisdn === msisdn)) return { ok: true, msisdn };
  return manualInput && !isTestNumber(msisdn) ? { ok: true, msisdn } : { ok: false, problem: 'not-listed' };
};
