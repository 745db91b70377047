/**
 * Asks a phone, once. The attempt is stored before anything is sent, with all that the transaction
 * is made of. Of several clicks one can store it. After a crash the next visit finds the attempt
 * and starts it again, which joins the transaction that exists already.
 */

import { createHmac, randomInt } from 'node:crypto';
import { isEqual } from '../../../packages/pki/src/is-equal.ts';
import { randomBytesOf } from '../../../packages/pki/src/random.ts';
import type { OauthDeps } from '../deps.ts';
import { soonSeconds } from '../limits.ts';
import { traceOf } from '../logins.ts';
import type { NumberError } from '../pages/views.ts';
import { type Attempt, isCurrent, type LoginFact, progressOf } from './facts.ts';
import type { BegunVisit } from './visit.ts';

/** The most prompts and texts of one login. */
export const maxPrompts = 5;
/** The time that another process may take to start an attempt that it has stored. */
export const startTimeoutMs = 3000;

/** An error for the number page. Without one the browser goes to the page of the moment. */
export interface FormError {
  readonly problem: NumberError;
  readonly entered?: string;
  /** Seconds; undefined where no later try of this login can succeed. */
  readonly retryAfter?: number | undefined;
}

export interface Wish extends Pick<Attempt, 'method' | 'msisdn' | 'phone'> {
  readonly round: number;
}

type BegunAttempt = Omit<Attempt, 'start' | 'wrongGuesses' | 'guessedRight' | 'barred'>;

/** No vowels and no characters that look alike. */
const sessionAlphabet = 'BCDFGHJKLMNPQRSTVWXZ23456789';
const sessionLength = 4;

const newSessionCode = (): string =>
  Array.from({ length: sessionLength }, () =>
    sessionAlphabet.charAt(randomInt(sessionAlphabet.length)),
  ).join('');

const newMatchNumber = (): string => String(randomInt(10, 100));

export const createBeginning = (
  codeKey: Uint8Array,
  { logins, limits, now, log }: Pick<OauthDeps, 'logins' | 'limits' | 'now' | 'log'>,
) => {
  /** @returns Whether the fact was added, and whether the person has left meanwhile. */
  const note = async (visit: BegunVisit, reference: string, fact: LoginFact) => {
    const { facts, added } = await visit.facts.add(visit.uid, visit.ttlSeconds, (known) => {
      const { attempt, ending } = progressOf(known);
      const isOpen = attempt?.reference === reference && attempt.start === undefined;
      return isOpen && ending === undefined ? fact : undefined;
    });
    const { cancelled, ending } = progressOf(facts);
    return { added, left: cancelled || ending !== undefined };
  };

  const aboutOf = ({ tenant, client }: BegunVisit, attempt: Pick<Attempt, 'reference'>) => ({
    tenant: tenant.id,
    clientId: client.id,
    trace: traceOf(attempt),
  });

  /** @returns False when the service is overloaded. */
  const start = async (visit: BegunVisit, attempt: BegunAttempt): Promise<boolean> => {
    const { tenant, client, acrValues, scopes, dtbd } = visit;
    const { method, matchNumber, reference } = attempt;
    const started = await logins.start({
      ...attempt,
      matchNumber,
      tenant,
      client,
      acrValues,
      scopes: new Set(scopes),
      dtbd,
      code: method === 'text' ? codeFor(codeKey, reference) : undefined,
    });
    switch (started.kind) {
      case 'busy':
        return false;
      case 'refused':
        await note(visit, reference, { kind: 'refused', fault: started.fault });
        return true;
      case 'started': {
        const { msspTransId } = started;
        const { added, left } = await note(visit, reference, started);
        if (added) log.audit({ event: 'login begun', ...aboutOf(visit, attempt), msspTransId });
        if (left) await logins.cancel(msspTransId);
        return true;
      }
    }
  };

  const withhold = async (
    visit: BegunVisit,
    reference: string,
    why: 'limited' | 'busy',
    retryAfter: number,
  ): Promise<FormError> => {
    await note(visit, reference, { kind: 'withheld', why });
    return { problem: why, retryAfter };
  };

  const startFirst = async (
    visit: BegunVisit,
    attempt: BegunAttempt,
  ): Promise<FormError | undefined> => {
    const { tenant, client, address } = visit;
    const { msisdn, reference } = attempt;
    const seconds = await limits.promptWait(tenant, { clientId: client.id, msisdn, address });
    if (seconds > 0) {
      log.audit({ event: 'login limited', ...aboutOf(visit, attempt) });
      return withhold(visit, reference, 'limited', seconds);
    }
    return (await start(visit, attempt))
      ? undefined
      : withhold(visit, reference, 'busy', soonSeconds);
  };

  return {
    /** Nothing is wrong when the attempt exists, by this click or an earlier one. */
    begin: async (
      visit: BegunVisit,
      { round, method, msisdn, phone }: Wish,
    ): Promise<FormError | undefined> => {
      const { client, uid, ttlSeconds, language, dtbd } = visit;
      const attempt = {
        method,
        msisdn,
        reference: `L${randomBytesOf(16).toString('hex')}`,
        begunAt: now(),
        // A client's own text need not contain the code; the page must then not show one.
        sessionCode: dtbd === undefined || dtbd.includes('#SESSION#') ? newSessionCode() : '',
        matchNumber: client.numberMatching && method === 'sign' ? newMatchNumber() : undefined,
        language,
        phone,
      };
      const { facts, added } = await visit.facts.add(uid, ttlSeconds, (known) => {
        const progress = progressOf(known);
        const mayAsk = isCurrent(progress, round) && progress.prompts < maxPrompts;
        return mayAsk ? { kind: 'begun', ...attempt } : undefined;
      });
      if (added) return startFirst(visit, attempt);
      // The round is right and yet nothing was added: there were too many prompts.
      return progressOf(facts).round === round ? { problem: 'limited' } : undefined;
    },

    /** Starts an attempt that was stored and perhaps never started. */
    startAgain: async (visit: BegunVisit, attempt: Attempt): Promise<void> => {
      if (now() < attempt.begunAt + startTimeoutMs) return;
      // The phone may ask already, so limits do not count it again and a busy service stores
      // nothing.
      await start(visit, attempt);
    },
  };
};

export type Beginning = ReturnType<typeof createBeginning>;

/**
 * One-time passwords by text message, for numbers that cannot sign, where the client accepts them.
 * A password is computed from the attempt's reference, so that the same attempt sends the same text
 * again. The records of the login do not hold it. The transaction's job and the outbox hold it in
 * clear (threat model B1).
 */
export const maxGuesses = 3;
/** The life of a one-time password, from the request for the text. */
export const codeLifeMs = 300_000;

const digits = 6;

export const codeFor = (key: Uint8Array, reference: string): string =>
  String(
    createHmac('sha256', key).update(`code ${reference}`).digest().readUIntBE(0, 6) % 10 ** digits,
  ).padStart(digits, '0');

/** Compares a typed password in constant time. Spaces between digits are allowed. */
export const isCode = (key: Uint8Array, reference: string, typed: string): boolean =>
  isEqual(typed.replaceAll(/\s/g, ''), codeFor(key, reference));
