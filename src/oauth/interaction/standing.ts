/** The state of a login: computed from its facts, its transaction and the time. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Fault, fault } from '../../../packages/protocol/src/fault.ts';
import type { OauthDeps } from '../deps.ts';
import type { LoginEvidence } from '../evidence.ts';
import { codeLifeMs, maxGuesses, startTimeoutMs } from './begin.ts';
import type { Attempt, Ending, Progress } from './facts.ts';
import type { Visit } from './visit.ts';

/** The transaction's fault, or what is wrong with a typed password, as the page calls it. */
export type Failure = Fault | 'code-wrong' | 'expired' | 'limited';

export type Standing =
  | { readonly kind: 'number' }
  | { readonly kind: 'waiting'; readonly attempt: Attempt }
  | { readonly kind: 'code'; readonly attempt: Attempt }
  | { readonly kind: 'failed'; readonly attempt: Attempt; readonly failure: Failure }
  | { readonly kind: 'signed'; readonly attempt: Attempt; readonly evidence: LoginEvidence }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'ended'; readonly ending: Ending };

const afterText = (
  attempt: Attempt,
  evidence: LoginEvidence | undefined,
  now: number,
): Standing => {
  if (attempt.guessedRight) {
    // The password was in the text, so the end of its delivery is about to come.
    return evidence === undefined
      ? { kind: 'waiting', attempt }
      : { kind: 'signed', attempt, evidence };
  }
  const failed = (failure: Failure): Standing => ({ kind: 'failed', attempt, failure });
  if (attempt.barred) return failed('limited');
  if (attempt.wrongGuesses >= maxGuesses) return failed('code-wrong');
  return now >= attempt.begunAt + codeLifeMs ? failed('expired') : { kind: 'code', attempt };
};

/** A delivery proves nothing about the reader. */
const fits = (attempt: Attempt, { cms }: LoginEvidence): boolean =>
  (attempt.method === 'text') === (cms === undefined);

export const findStanding = async (
  { attempt, cancelled, ending }: Progress,
  { logins, acrValues, now }: Pick<OauthDeps, 'logins' | 'now'> & Pick<Visit, 'acrValues'>,
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
  return evidence === undefined
    ? { kind: 'waiting', attempt }
    : { kind: 'signed', attempt, evidence };
};

/** A transaction may end this long after its deadline. */
const endingMarginMs = 5000;
const lookEveryMs = 250;
const joinEveryMs = 500;

/**
 * Waits until the login needs another page than the one that it had.
 *
 * @returns False when its time is over without a change, or when `gone` aborts.
 */
export const waitForChange = async (
  look: () => Promise<Standing>,
  {
    logins,
    now,
    gone,
    mayJoin,
  }: Pick<OauthDeps, 'logins' | 'now'> & {
    readonly gone: AbortSignal;
    /** Whether the page of the number waits for a phone, too. */
    readonly mayJoin: boolean;
  },
): Promise<boolean> => {
  let waitedForEnd = false;
  let sawNumber = false;
  const since = now();
  while (!gone.aborted) {
    const standing = await look();
    if (standing.kind === 'number' && mayJoin) {
      sawNumber = true;
      await delay(joinEveryMs, undefined, { signal: gone }).catch(() => undefined);
      continue;
    }
    if (sawNumber || standing.kind !== 'waiting') return true;
    const { start, begunAt } = standing.attempt;
    if (start !== undefined && 'msspTransId' in start) {
      if (waitedForEnd) return false;
      await logins.ended(start.msspTransId, start.deadline + endingMarginMs, gone);
      waitedForEnd = true;
      continue;
    }
    // After a crash before the start, to load the page again starts it.
    if (now() >= Math.max(begunAt, since) + startTimeoutMs) return true;
    await delay(lookEveryMs, undefined, { signal: gone }).catch(() => undefined);
  }
  return false;
};
