/**
 * What has happened in a login at the browser: a list of facts that only grows.
 *
 * Two tabs, a double click and several processes may act on a login at the same time. A fact is
 * added behind the last one that its writer has read. When another one is there already, the writer
 * reads again and decides again. What can be derived (has the phone signed? is it too late?) is not
 * stored.
 *
 * Stored: kind `login`, by the uid of the interaction, until that ends.
 */

import type { Fault } from '../../../packages/protocol/src/fault.ts';
import type { PageLanguage } from '../../http/pages/languages.ts';
import type { SealedStore } from '../../redis/sealed-store.ts';
import type { JoinedPhone, SignedEnding } from '../evidence.ts';
import type { LoginError } from '../login-failures.ts';
import type { StartedLogin } from '../logins.ts';

/**
 * begun      The number is chosen; the transaction exists or can be made again, the same.
 * started    The transaction is durable.
 * refused    The number is unknown, or has no device that fits.
 * withheld   Too many prompts, or the service is overloaded.
 * guessed    A one-time password was typed.
 * barred     Too many passwords were typed for this number; no further one is compared.
 * restarted  The person wants to give another number.
 * cancelled  The person gave up.
 * ended      What the client is told. Nothing follows.
 */
export type LoginFact =
  | {
      readonly kind: 'begun';
      /** sign: the phone is asked for a signature. text: a one-time password is sent to it. */
      readonly method: 'sign' | 'text';
      /** Digits without plus. */
      readonly msisdn: string;
      /** AP_TransID of the transaction. */
      readonly reference: string;
      /** Milliseconds since the epoch. */
      readonly begunAt: number;
      readonly sessionCode: string;
      readonly matchNumber?: string | undefined;
      readonly language: PageLanguage;
      /**
       * The phone that has joined, and the only one that may sign; undefined where a number was
       * given.
       */
      readonly phone?: JoinedPhone | undefined;
    }
  | ({ readonly kind: 'started' } & StartedLogin)
  | { readonly kind: 'refused'; readonly fault: Fault }
  | { readonly kind: 'withheld'; readonly why: 'limited' | 'busy' }
  | { readonly kind: 'guessed'; readonly right: boolean }
  | { readonly kind: 'barred' }
  | { readonly kind: 'restarted' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'ended'; readonly ending: Ending };

/** What the client is told. */
export type Ending = SignedEnding | ({ readonly how: 'failed' | 'cancelled' } & LoginError);

/** Bounds what one interaction can store. An end can be stored beyond it. */
const maxFacts = 48;
/**
 * Kept free after `begun`, for its start, its guesses and a restart. Without it a refused attempt
 * could stay open and look like one whose process has died.
 */
const roomForAttempt = 8;

const isEnd = ({ kind }: LoginFact): boolean => kind === 'cancelled' || kind === 'ended';
const hasRoom = (count: number, fact: LoginFact): boolean =>
  isEnd(fact) || count < (fact.kind === 'begun' ? maxFacts - roomForAttempt : maxFacts);

export const createLoginFacts = (store: SealedStore) => {
  /** What was read last. Facts are only added, so a decision about them is tried again at worst. */
  const known = new Map<string, readonly LoginFact[]>();
  const fetch = async (uid: string): Promise<readonly LoginFact[]> => {
    const facts = (await store.list('login', uid)) as readonly LoginFact[];
    known.set(uid, facts);
    return facts;
  };
  const early = new Map<string, Promise<readonly LoginFact[]>>();
  const read = (uid: string): Promise<readonly LoginFact[]> => {
    const begun = early.get(uid);
    early.delete(uid);
    return begun ?? fetch(uid);
  };
  return {
    read,
    /** Begins the next read now, beside other commands to Redis. */
    readAhead: (uid: string): void => {
      const begun = fetch(uid);
      early.set(uid, begun);
      // The reader gets the error.
      begun.catch(() => undefined);
    },
    /**
     * Adds the fact that `decide` returns for the facts so far, if any.
     *
     * @returns All facts, and whether this call has added the last one.
     * @throws When Redis is unreachable, or a fact cannot be read.
     */
    add: async (
      uid: string,
      ttlSeconds: number,
      decide: (facts: readonly LoginFact[]) => LoginFact | undefined,
    ): Promise<{ readonly facts: readonly LoginFact[]; readonly added: boolean }> => {
      let facts = known.get(uid) ?? (await read(uid));
      early.delete(uid);
      for (;;) {
        const fact = decide(facts);
        if (fact === undefined || !hasRoom(facts.length, fact)) return { facts, added: false };
        if (await store.append('login', uid, facts.length, fact, ttlSeconds)) {
          facts = [...facts, fact];
          known.set(uid, facts);
          return { facts, added: true };
        }
        const { length } = facts;
        facts = await fetch(uid);
        // The fact is damaged or was sealed under another key: another try would never end.
        if (facts.length === length) throw new Error('A fact of a login cannot be read');
      }
    },
  };
};

export type LoginFacts = ReturnType<typeof createLoginFacts>;

export interface Attempt extends Omit<Extract<LoginFact, { kind: 'begun' }>, 'kind'> {
  /** Undefined while it is being started, or after a crash. */
  readonly start: StartedLogin | { readonly fault: Fault } | undefined;
  readonly wrongGuesses: number;
  readonly guessedRight: boolean;
  readonly barred: boolean;
}

export interface Progress {
  /**
   * The number of times that the person has asked for a prompt. Forms carry it, so that a second
   * click or an old page cannot ask again.
   */
  readonly round: number;
  readonly prompts: number;
  readonly attempt: Attempt | undefined;
  /** Why the last request was not fulfilled. */
  readonly withheld: { readonly why: 'limited' | 'busy'; readonly msisdn: string } | undefined;
  readonly cancelled: boolean;
  readonly ending: Ending | undefined;
}

const nothing: Progress = {
  round: 0,
  prompts: 0,
  attempt: undefined,
  withheld: undefined,
  cancelled: false,
  ending: undefined,
};

const withAttempt = (
  progress: Progress,
  change: (attempt: Attempt) => Partial<Attempt>,
): Progress =>
  progress.attempt === undefined
    ? progress
    : { ...progress, attempt: { ...progress.attempt, ...change(progress.attempt) } };

const after = (progress: Progress, fact: LoginFact): Progress => {
  switch (fact.kind) {
    case 'begun': {
      const { kind: _, ...begun } = fact;
      return {
        ...progress,
        round: progress.round + 1,
        prompts: progress.prompts + 1,
        attempt: {
          ...begun,
          start: undefined,
          wrongGuesses: 0,
          guessedRight: false,
          barred: false,
        },
        withheld: undefined,
      };
    }
    case 'started': {
      const { kind: _, ...start } = fact;
      return withAttempt(progress, () => ({ start }));
    }
    case 'refused':
      return withAttempt(progress, () => ({ start: { fault: fact.fault } }));
    case 'withheld':
      return {
        ...progress,
        prompts: progress.prompts - 1,
        attempt: undefined,
        withheld: { why: fact.why, msisdn: progress.attempt?.msisdn ?? '' },
      };
    case 'guessed':
      return withAttempt(progress, ({ wrongGuesses }) =>
        fact.right ? { guessedRight: true } : { wrongGuesses: wrongGuesses + 1 },
      );
    case 'barred':
      return withAttempt(progress, () => ({ barred: true }));
    case 'restarted':
      return { ...progress, round: progress.round + 1, attempt: undefined, withheld: undefined };
    case 'cancelled':
      return { ...progress, cancelled: true };
    case 'ended':
      return { ...progress, ending: fact.ending };
  }
};

/** Whether a form of this round can still do something. */
export const isCurrent = ({ cancelled, ending, ...progress }: Progress, round: number): boolean =>
  progress.round === round && !cancelled && ending === undefined;

/** Pure. */
export const progressOf = (facts: readonly LoginFact[]): Progress => facts.reduce(after, nothing);
