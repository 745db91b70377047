/**
 * Where a login stands now: its facts, together with what has become of the transaction and with the time.
 */
import { type Fault, fault } from '../../protocol/fault.ts';
import type { AcrValue } from '../../registry/oauth-client.ts';
import type { LoginEvidence } from '../evidence.ts';
import type { Logins } from '../logins.ts';
import type { Ending } from './facts.ts';
import { codeLifeMs, mostGuesses } from './one-time-code.ts';
import type { Attempt, Progress } from './progress.ts';

/** Why somebody was not let in: the transaction's fault, or what only a typed password can do wrong. */
export type Failure =
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'code-wrong' }
  | { readonly kind: 'code-expired' }
  /** Too many passwords were typed for this number. */
  | { readonly kind: 'limited' };

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
  if (attempt.barred) return { kind: 'failed', attempt, failure: { kind: 'limited' } };
  if (attempt.wrongGuesses >= mostGuesses)
    return { kind: 'failed', attempt, failure: { kind: 'code-wrong' } };
  if (now >= attempt.begunAt + codeLifeMs)
    return { kind: 'failed', attempt, failure: { kind: 'code-expired' } };
  return { kind: 'code', attempt };
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
  const failed = (why: Fault): Standing => ({
    kind: 'failed',
    attempt,
    failure: { kind: 'fault', fault: why },
  });
  if ('fault' in start) return failed(start.fault);
  const state = await logins.look(start, { ...attempt, acrValues });
  if (state.kind === 'failed') return failed(state.fault);
  const evidence = state.kind === 'signed' ? state.evidence : undefined;
  if (evidence !== undefined && !fits(attempt, evidence)) return failed(fault(900));
  if (attempt.method === 'text') return afterText(attempt, evidence, now());
  return evidence === undefined ? { kind: 'waiting', attempt } : { kind: 'signed', attempt, evidence };
};
