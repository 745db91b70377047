/** From where a login stands to what the page shows. Pure. */
import type { AcrValue } from '../../registry/oauth-client.ts';
import { failureCauseOf } from '../pages/failure-cause.ts';
import type { FailureCause, LoginView, NumberProblem } from '../pages/login-page.ts';
import { mostPrompts } from './begin.ts';
import { traceOf } from './login-trace.ts';
import type { Offer } from './numbers.ts';
import { mostGuesses } from './one-time-code.ts';
import type { Progress } from './progress.ts';
import type { Failure, Standing } from './standing.ts';

export interface ViewContext {
  readonly pagePath: string;
  readonly csrf: string;
  readonly offer: Offer;
  readonly progress: Progress;
  readonly acrValues: readonly AcrValue[];
  /** Of the client. */
  readonly textMessageLogin: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly promptSeconds: number;
  /** What the person has just typed, and what is wrong with it. */
  readonly entered?: string | undefined;
  readonly problem?: NumberProblem | undefined;
}

/** Enough to recognise a number, and not enough to learn it from a screen. */
const shortened = (msisdn: string): string => `+${msisdn.slice(0, 2)} … ${msisdn.slice(-2)}`;

const causeOf = (failure: Failure): FailureCause => {
  switch (failure.kind) {
    case 'fault':
      return failureCauseOf(failure.fault);
    case 'code-wrong':
      return 'code-wrong';
    case 'code-expired':
      return 'expired';
    case 'limited':
      return 'limited';
  }
};

/** Where asking the same phone once more may end differently. */
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

/** The number can sign nothing, and the client accepts less: in its configuration, and in what it asks for. */
export const mayTypeCode = (
  failure: Failure,
  { acrValues, textMessageLogin }: Pick<ViewContext, 'acrValues' | 'textMessageLogin'>,
): boolean =>
  textMessageLogin &&
  failure.kind === 'fault' &&
  [105, 109, 404].includes(failure.fault.code) &&
  acrValues.includes('mid_al2_any');

const numberView = (context: ViewContext): LoginView => {
  const { pagePath, csrf, offer, progress, entered, problem } = context;
  const { withheld } = progress;
  const shownProblem = problem ?? withheld?.why;
  const typed = entered ?? (withheld === undefined ? undefined : `+${withheld.msisdn}`);
  return {
    kind: 'number',
    action: `${pagePath}/number`,
    csrf,
    hints: offer.hints,
    manualInput: offer.manualInput,
    cancelAction: `${pagePath}/cancel`,
    ...(typed !== undefined && { entered: typed }),
    ...(shownProblem !== undefined && { problem: shownProblem }),
  };
};

const failedView = (
  { attempt, failure }: Extract<Standing, { kind: 'failed' }>,
  context: ViewContext,
): LoginView => {
  const { pagePath, csrf, offer, progress, textMessageLogin } = context;
  const cause = causeOf(failure);
  const hasMore = progress.prompts < mostPrompts;
  const mayRetry = attempt.method === 'sign' || textMessageLogin;
  const form = (name: string) => ({ action: `${pagePath}/${name}`, csrf });
  return {
    kind: 'failed',
    cause,
    reference: traceOf(attempt),
    returnUrl: `${pagePath}/return`,
    ...(hasMore && mayRetry && worthRetrying.has(cause) && { retry: form('retry') }),
    ...(hasMore && (offer.manualInput || offer.hints.length > 1) && { otherNumber: form('other') }),
    ...(hasMore && mayTypeCode(failure, context) && { textMessage: form('text') }),
  };
};

export const viewOf = (standing: Standing, context: ViewContext): LoginView => {
  const { pagePath, csrf, now, promptSeconds } = context;
  const cancelAction = `${pagePath}/cancel`;
  switch (standing.kind) {
    case 'number':
      return numberView(context);
    case 'waiting': {
      const { start, msisdn, sessionCode, matchNumber, begunAt } = standing.attempt;
      const deadline =
        start !== undefined && 'deadline' in start ? start.deadline : begunAt + promptSeconds * 1000;
      return {
        kind: 'waiting',
        eventsUrl: `${pagePath}/events`,
        stateUrl: `${pagePath}/state`,
        // A text of the client's own may leave it out; then there is nothing to compare.
        sessionCode:
          start === undefined || !('text' in start) || start.text.includes(sessionCode) ? sessionCode : '',
        matchNumber,
        phone: shortened(msisdn),
        secondsLeft: Math.max(0, Math.ceil((deadline - now) / 1000)),
        csrf,
        cancelAction,
      };
    }
    case 'code': {
      const { msisdn, wrongGuesses } = standing.attempt;
      return {
        kind: 'code',
        action: `${pagePath}/code`,
        csrf,
        phone: shortened(msisdn),
        triesLeft: mostGuesses - wrongGuesses,
        cancelAction,
        ...(wrongGuesses > 0 && { problem: 'wrong' as const }),
      };
    }
    case 'failed':
      return failedView(standing, context);
    case 'signed':
      return { kind: 'leaving', url: `${pagePath}/finish`, how: 'signed' };
    case 'cancelled':
      return { kind: 'leaving', url: `${pagePath}/return`, how: 'cancelled' };
    case 'ended':
      return standing.ending.how === 'signed'
        ? { kind: 'leaving', url: `${pagePath}/finish`, how: 'signed' }
        : { kind: 'leaving', url: `${pagePath}/return`, how: 'cancelled' };
  }
};
