/**
 * What a person can do with a login: one function for each form. Each can be repeated without harm.
 */
import type { OauthDeps } from '../deps.ts';
import { chooseNumber } from '../login-hint.ts';
import { traceOf } from '../logins.ts';
import type { WayOn } from '../pages/views.ts';
import type { Beginning, FormError } from './begin.ts';
import { codeLifeMs, isCode, maxGuesses } from './begin.ts';
import { isCurrent, type LoginFact, type Progress, progressOf } from './facts.ts';
import type { Standing } from './standing.ts';
import { mayTypeCode } from './view.ts';
import type { Visit } from './visit.ts';

export interface Submission {
  readonly visit: Visit;
  /** The round for which the form was made; see facts.ts. */
  readonly round: number;
  readonly field: (name: string) => string;
  readonly look: () => Promise<Standing>;
}

export type Action = (submission: Submission) => Promise<FormError | undefined>;

/** The actions of the login's page, by the names of their forms. */
export const createActions = (
  beginning: Beginning,
  codeKey: Uint8Array,
  {
    logins,
    limits,
    isTestNumber,
    now,
    log,
  }: Pick<OauthDeps, 'logins' | 'limits' | 'isTestNumber' | 'now' | 'log'>,
): Readonly<Record<WayOn | 'number' | 'code' | 'cancel', Action>> => {
  /** @returns The attempt whose password can still be typed. */
  const guessable = (progress: Progress, round: number) => {
    const { attempt } = progress;
    if (attempt?.method !== 'text' || attempt.start === undefined || 'fault' in attempt.start)
      return undefined;
    const mayGuess =
      isCurrent(progress, round) &&
      !attempt.guessedRight &&
      !attempt.barred &&
      attempt.wrongGuesses < maxGuesses &&
      now() < attempt.begunAt + codeLifeMs;
    return mayGuess ? attempt : undefined;
  };

  return {
    number: async ({ visit, round, field, look }) => {
      const standing = await look();
      if (standing.kind !== 'number' || visit.client.phoneStart === 'required') return undefined;
      const entered = field('msisdn');
      const chosen = chooseNumber(entered, visit.offer, isTestNumber);
      if (!chosen.ok) return { problem: chosen.problem, entered };
      return beginning.begin(visit, { round, method: 'sign', msisdn: chosen.msisdn });
    },

    retry: async ({ visit, round, look }) => {
      const standing = await look();
      if (standing.kind !== 'failed') return undefined;
      const { method, msisdn, phone } = standing.attempt;
      if (method === 'text' && !visit.client.textMessageLogin) return undefined;
      return beginning.begin(visit, { round, method, msisdn, phone });
    },

    text: async ({ visit, round, look }) => {
      const standing = await look();
      if (standing.kind !== 'failed' || !mayTypeCode(standing.failure, visit)) return undefined;
      return beginning.begin(visit, { round, method: 'text', msisdn: standing.attempt.msisdn });
    },

    other: async ({ visit, round, look }) => {
      if ((await look()).kind !== 'failed') return undefined;
      await visit.facts.add(visit.uid, visit.ttlSeconds, (facts) =>
        isCurrent(progressOf(facts), round) ? { kind: 'restarted' } : undefined,
      );
      return undefined;
    },

    code: async ({ visit, round, field }) => {
      const typed = field('code');
      const asked = guessable(progressOf(await visit.facts.read(visit.uid)), round);
      // An empty field is not a guess.
      if (asked === undefined || typed.trim() === '') return undefined;
      // Limits all logins of the number: each has a few tries, but anyone can begin many.
      const retryAfter = await limits.guessWait(asked.msisdn);
      const isAllowed = retryAfter === 0;
      const { added } = await visit.facts.add(
        visit.uid,
        visit.ttlSeconds,
        (facts): LoginFact | undefined => {
          const attempt = guessable(progressOf(facts), round);
          if (attempt === undefined) return undefined;
          return isAllowed
            ? { kind: 'guessed', right: isCode(codeKey, attempt.reference, typed) }
            : { kind: 'barred' };
        },
      );
      if (isAllowed || !added) return undefined;
      const { tenant, client } = visit;
      log.audit({
        event: 'login limited',
        tenant: tenant.id,
        clientId: client.id,
        trace: traceOf(asked),
      });
      return { problem: 'limited', retryAfter };
    },

    cancel: async ({ visit }) => {
      const { facts } = await visit.facts.add(visit.uid, visit.ttlSeconds, (known) => {
        const { cancelled, ending } = progressOf(known);
        return cancelled || ending !== undefined ? undefined : { kind: 'cancelled' };
      });
      const { attempt, cancelled } = progressOf(facts);
      const start = attempt?.start;
      if (cancelled && start !== undefined && 'msspTransId' in start)
        await logins.cancel(start.msspTransId);
      return undefined;
    },
  };
};
