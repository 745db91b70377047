/** Computes what the page shows from the state of a login. Pure. */

import type { FormTarget } from '../../http/pages/markup.ts';
import type { OauthClient } from '../../registry/oauth-client.ts';
import { findFailureCause } from '../login-failures.ts';
import { traceOf } from '../logins.ts';
import type { FailureCause, LoginView, ViewOf } from '../pages/views.ts';
import { type FormError, maxGuesses, maxPrompts } from './begin.ts';
import type { Progress } from './facts.ts';
import type { Failure, Standing } from './standing.ts';
import type { Visit } from './visit.ts';

export interface ViewContext {
  readonly visit: Visit;
  readonly csrf: string;
  readonly progress: Progress;
  readonly now: number;
  readonly promptSeconds: number;
  /** The error in the form that the person has just sent. */
  readonly formError: FormError | undefined;
  /** Whether a device may begin the login (device-start.ts). */
  readonly phoneStart: OauthClient['phoneStart'];
}

/** Enough to recognise a number, too little to learn it. */
const shortened = (msisdn: string): string => `+${msisdn.slice(0, 2)} … ${msisdn.slice(-2)}`;

/** Failures after which the same phone may be asked again. */
const worthRetrying: ReadonlySet<FailureCause> = new Set([
  'rejected',
  'busy-phone',
  'no-response',
  'unreachable',
  'location',
  'code-wrong',
  'expired',
  'internal',
]);

/** The number cannot sign, and the client accepts passwords by configuration and by request. */
export const mayTypeCode = (failure: Failure, { acrValues, client }: Visit): boolean =>
  client.textMessageLogin &&
  typeof failure === 'object' &&
  [105, 109, 404].includes(failure.code) &&
  acrValues.includes('mid_al2_any');

const failedView = (
  { attempt, failure }: Extract<Standing, { kind: 'failed' }>,
  { visit, progress }: ViewContext,
): Omit<ViewOf<'failed'>, keyof FormTarget> => {
  const { offer, client } = visit;
  const cause = typeof failure === 'object' ? findFailureCause(failure) : failure;
  const mayRetry =
    (attempt.method === 'sign' || client.textMessageLogin) && worthRetrying.has(cause);
  const hasOthers = offer.manualInput || offer.hints.length > 1;
  const ways = [
    ...(mayTypeCode(failure, visit) ? (['text'] as const) : []),
    ...(mayRetry ? (['retry'] as const) : []),
    ...(hasOthers ? (['other'] as const) : []),
  ];
  const reference = traceOf(attempt);
  return { kind: 'failed', cause, reference, ways: progress.prompts < maxPrompts ? ways : [] };
};

export const viewOf = (standing: Standing, context: ViewContext): LoginView => {
  const { visit, csrf, progress, now, promptSeconds, formError, phoneStart } = context;
  const target = { pagePath: visit.pagePath, csrf };
  switch (standing.kind) {
    case 'number': {
      const { withheld } = progress;
      return {
        ...target,
        ...visit.offer,
        kind: 'number',
        phoneStart,
        entered: formError?.entered ?? (withheld && `+${withheld.msisdn}`),
        problem: formError?.problem ?? withheld?.why,
      };
    }
    case 'waiting': {
      const { start, msisdn, sessionCode, matchNumber, begunAt } = standing.attempt;
      const started = start !== undefined && 'text' in start ? start : undefined;
      const deadline = started?.deadline ?? begunAt + promptSeconds * 1000;
      return {
        ...target,
        kind: 'waiting',
        // A client's own text may leave the code out; then there is nothing to compare.
        sessionCode: started === undefined || started.text.includes(sessionCode) ? sessionCode : '',
        matchNumber,
        phone: shortened(msisdn),
        secondsLeft: Math.max(0, Math.ceil((deadline - now) / 1000)),
      };
    }
    case 'code': {
      const { msisdn, wrongGuesses } = standing.attempt;
      const triesLeft = maxGuesses - wrongGuesses;
      return {
        ...target,
        kind: 'code',
        phone: shortened(msisdn),
        triesLeft,
        wrong: wrongGuesses > 0,
      };
    }
    case 'failed':
      return { ...target, ...failedView(standing, context) };
    case 'signed':
      return { ...target, kind: 'leaving', how: 'signed' };
    case 'cancelled':
      return { ...target, kind: 'leaving', how: 'cancelled' };
    case 'ended':
      return {
        ...target,
        kind: 'leaving',
        how: standing.ending.how === 'signed' ? 'signed' : 'cancelled',
      };
  }
};
