/** From where a login stands to what the page shows. Pure. */
import type { AcrValue } from '../../registry/oauth-client.ts';
import { failureCauseOf } from '../login-failures.ts';
import { traceOf } from '../logins.ts';
import type { FailureCause, FormTarget, LoginView, NumberProblem, ViewOf } from '../pages/views.ts';
import { mostPrompts } from './begin.ts';
import type { Progress } from './facts.ts';
import type { Offer } from './numbers.ts';
import { mostGuesses } from './one-time-code.ts';
import type { Failure, Standing } from './standing.ts';

export interface ViewContext extends FormTarget {
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
  typeof failure === 'object' &&
  [105, 109, 404].includes(failure.code) &&
  acrValues.includes('mid_al2_any');

const failedView = (
  { attempt, failure }: Extract<Standing, { kind: 'failed' }>,
  context: ViewContext,
): Omit<ViewOf<'failed'>, keyof FormTarget> => {
  const { offer, progress, textMessageLogin } = context;
  const cause = typeof failure === 'object' ? failureCauseOf(failure) : failure;
  const mayRetry = (attempt.method === 'sign' || textMessageLogin) && worthRetrying.has(cause);
  const hasOthers = offer.manualInput || offer.hints.length > 1;
  const ways = [
    ...(mayTypeCode(failure, context) ? (['text'] as const) : []),
    ...(mayRetry ? (['retry'] as const) : []),
    ...(hasOthers ? (['other'] as const) : []),
  ];
  const reference = traceOf(attempt);
  return { kind: 'failed', cause, reference, ways: progress.prompts < mostPrompts ? ways : [] };
};

export const viewOf = (standing: Standing, context: ViewContext): LoginView => {
  const { pagePath, csrf, offer, now, promptSeconds } = context;
  const target = { pagePath, csrf };
  switch (standing.kind) {
    case 'number': {
      const { withheld } = context.progress;
      return {
        ...target,
        ...offer,
        kind: 'number',
        entered: context.entered ?? (withheld && `+${withheld.msisdn}`),
        problem: context.problem ?? withheld?.why,
      };
    }
    case 'waiting': {
      const { start, msisdn, sessionCode, matchNumber, begunAt } = standing.attempt;
      const started = start !== undefined && 'text' in start ? start : undefined;
      const deadline = started?.deadline ?? begunAt + promptSeconds * 1000;
      return {
        ...target,
        kind: 'waiting',
        // A text of the client's own may leave it out; then there is nothing to compare.
        sessionCode: started === undefined || started.text.includes(sessionCode) ? sessionCode : '',
        matchNumber,
        phone: shortened(msisdn),
        secondsLeft: Math.max(0, Math.ceil((deadline - now) / 1000)),
      };
    }
    case 'code': {
      const { msisdn, wrongGuesses } = standing.attempt;
      const triesLeft = mostGuesses - wrongGuesses;
      return { ...target, kind: 'code', phone: shortened(msisdn), triesLeft, wrong: wrongGuesses > 0 };
    }
    case 'failed':
      return { ...target, ...failedView(standing, context) };
    case 'signed':
      return { ...target, kind: 'leaving', how: 'signed' };
    case 'cancelled':
      return { ...target, kind: 'leaving', how: 'cancelled' };
    case 'ended':
      return { ...target, kind: 'leaving', how: standing.ending.how === 'signed' ? 'signed' : 'cancelled' };
  }
};
