/**
 * Where a login stands now: its facts, together with what has become of the transaction and with the time.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Fault, fault } from '../../protocol/fault.ts';
import type { AcrValue } from '../../registry/oauth-client.ts';
import type { LoginEvidence } from '../evidence.ts';
import type { Logins } from '../logins.ts';
import { codeLifeMs, mostGuesses, startPatienceMs } from './begin.ts';
import type { Attempt, Ending, Progress } from './facts.ts';

/** Why somebody was not let in: the transaction's fault, or what only a typed password can do wrong, as the page calls it. */
export type Failure = Fault | 'code-wrong' | 'expired' | 'limited';

export type Standing =
  | { readonly kind: 'number' }
  | { readonly kind: 'waiting'; readonly attempt: Attempt }
  | { readonly kind: 'code'; readonly attempt: Attempt }
  | { readonly kind: 'failed'; readonly attempt: Attempt; readonly failure: Failure }
  | { readonly kind: 'signed'; readonly attempt: Attempt; readonly evidence: LoginEvidence }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'ended'; readonly ending: Ending };

const afterText = (attempt: Attempt, evidence: LoginEvidence | undefined, now: number): Standing => {
  if (attempt.guessedRight) {
    // Only somebody who has read the text can know the password, so the news of its delivery is about to come.
    return evidence === undefined ? { kind: 'waiting', attempt } : { kind: 'signed', attempt, evidence };
  }
  const failed = (failure: Failure): Standing => ({ kind: 'failed', attempt, failure });
  if (attempt.barred) return failed('limited');
  if (attempt.wrongGuesses >= mostGuesses) return failed('code-wrong');
  return now >= attempt.begunAt + codeLifeMs ? failed('expired') : { kind: 'code', attempt };
};

/** A delivery proves nothing about who has read it. */
const fits = (attempt: Attempt, { cms }: LoginEvidence): boolean =>
  (attempt.method === 'text') === (cms === undefined);

export const standingOf = async (
  { attempt, cancelled, ending }: Progress,
  {
    logins,
    acrValues,
    now,
  }: { readonly logins: Logins; readonly acrValues: readonly AcrValue[]; readonly now: () => number },
): Promise<Standing> => {
  if (ending !== undefined) return { kind: 'ended', ending };
  if (cancelled) return { kind: 'cancelled' };
  if (attempt === undefined) return { kind: 'number' };
  const { start } = attempt;
  if (start === undefined) return { kind: 'waiting', attempt };
  const failed = (failure: Fault): Standing => ({ kind: 'failed', attempt, failure });
  if ('fault' in start) return failed(start.fault);
  const state = await logins.look(start, { ...attempt, acrValues });
  if (state.kind === 'failed') return failed(state.fault);
  const evidence = state.kind === 'signed' ? state.evidence : undefined;
  if (evidence !== undefined && !fits(attempt, evidence)) return failed(fault(900));
  if (attempt.method === 'text') return afterText(attempt, evidence, now());
  return evidence === undefined ? { kind: 'waiting', attempt } : { kind: 'signed', attempt, evidence };
};

/** How long after its deadline a transaction may take to end. */
const endingMarginMs = 5000;
const lookEveryMs = 250;

/**
 * Waits until a login looks different from a page that waits.
 *
 * @param look Where the login stands now.
 * @returns False when it is still the same although its time is over, or when nobody waits any more.
 */
export const waitForChange = async (
  look: () => Promise<Standing>,
  { logins, now, gone }: { readonly logins: Logins; readonly now: () => number; readonly gone: AbortSignal },
): Promise<boolean> => {
  let waitedForEnd = false;
  const since = now();
  while (!gone.aborted) {
    const standing = await look();
    if (standing.kind !== 'waiting') return true;
    const { start, begunAt } = standing.attempt;
    if (start !== undefined && 'msspTransId' in start) {
      if (waitedForEnd) return false;
      await logins.ended(start.msspTransId, start.deadline + endingMarginMs, gone);
      waitedForEnd = true;
      continue;
    }
    // Nobody has started it: loading the page again does. The page that waits here may have tried just now.
    if (now() >= Math.max(begunAt, since) + startPatienceMs) return true;
    await delay(lookEveryMs, undefined, { signal: gone }).catch(() => undefined);
  }
  return false;
};
