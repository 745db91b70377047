/**
 * What has happened in one login at the browser: a short list of facts that only grows.
 *
 * Two tabs, a double click, a reload and two processes may all act on the same login at the same time. Each fact is written
 * once, at the place behind the last one that its writer has seen; whoever finds the place taken reads again and decides
 * anew. So nothing is lost or done twice, and after a crash the list says how far the login had come. What can be
 * derived (has the phone signed? is it too late?) is not in it.
 *
 * Stored: kind `login`, handle `<uid of the interaction> <index>`, until the interaction is over.
 */
import type { Fault } from '../../protocol/fault.ts';
import type { LoginLanguage } from '../../registry/oauth-client.ts';
import type { SignedEnding } from '../evidence.ts';
import type { LoginError } from '../login-failures.ts';
import type { StartedLogin } from '../logins.ts';
import type { SealedStore } from '../sealed-store.ts';

/**
 * begun      The person has said whom to ask; from here on the transaction exists or can be made again, the same.
 * started    The transaction is durable.
 * refused    Nobody could be asked: no such number, or nothing that signs in the wanted way.
 * withheld   Nobody was asked: too many prompts, or the service is overloaded.
 * guessed    Somebody typed a one-time password.
 * barred     Too many were typed for this number, in this login and others; this one was not looked at, nor will others be.
 * restarted  The person wants to give another number.
 * cancelled  The person gave up.
 * ended      What the client is told. Nothing follows.
 */
export type LoginFact =
  | {
      readonly kind: 'begun';
      /** sign: the phone is asked for a signature. text: a one-time password goes to it, and is typed in here. */
      readonly method: 'sign' | 'text';
      /** Digits without plus. */
      readonly msisdn: string;
      /** AP_TransID of the transaction. */
      readonly reference: string;
      /** Milliseconds since the epoch. */
      readonly begunAt: number;
      readonly sessionCode: string;
      readonly matchNumber?: string | undefined;
      readonly language: LoginLanguage;
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

export interface LoginFacts {
  read(uid: string): Promise<readonly LoginFact[]>;
  /**
   * Adds what `decide` makes of the facts so far, or nothing when it makes nothing of them.
   *
   * @returns All facts, and whether the last one was added by this call.
   * @throws When Redis is unreachable, or holds a fact that cannot be read.
   */
  add(
    uid: string,
    ttlSeconds: number,
    decide: (facts: readonly LoginFact[]) => LoginFact | undefined,
  ): Promise<{ readonly facts: readonly LoginFact[]; readonly added: boolean }>;
}

/** More than a person needs; it bounds what one interaction can store. An end can be written beyond it. */
const mostFacts = 48;
/**
 * Kept free behind `begun`: how it was started or why not, what was typed, another number. Without it an attempt could
 * stay open that a limit has forbidden, and be taken for one whose process has died.
 */
const roomForAttempt = 8;
const readAhead = 4;

const isEnd = ({ kind }: LoginFact): boolean => kind === 'cancelled' || kind === 'ended';
const hasRoom = (count: number, fact: LoginFact): boolean =>
  isEnd(fact) || count < (fact.kind === 'begun' ? mostFacts - roomForAttempt : mostFacts);

export const createLoginFacts = (store: SealedStore): LoginFacts => {
  const at = (uid: string, index: number): string => `${uid} ${index}`;

  const readFrom = async (uid: string, known: readonly LoginFact[]): Promise<readonly LoginFact[]> => {
    const next = await Promise.all(
      Array.from({ length: readAhead }, (_, offset) => store.get('login', at(uid, known.length + offset))),
    );
    const end = next.indexOf(undefined);
    const facts = [...known, ...((end === -1 ? next : next.slice(0, end)) as LoginFact[])];
    return end === -1 ? readFrom(uid, facts) : facts;
  };

  return {
    read: (uid) => readFrom(uid, []),
    add: async (uid, ttlSeconds, decide) => {
      let facts = await readFrom(uid, []);
      for (;;) {
        const fact = decide(facts);
        if (fact === undefined || !hasRoom(facts.length, fact)) return { facts, added: false };
        if (await store.putOnce('login', at(uid, facts.length), fact, ttlSeconds)) {
          return { facts: [...facts, fact], added: true };
        }
        const known = facts.length;
        facts = await readFrom(uid, facts);
        // The place is taken by what was sealed under another key, or is damaged: trying again would never end.
        if (facts.length === known) throw new Error('A fact of a login cannot be read');
      }
    },
  };
};

export interface Attempt extends Omit<Extract<LoginFact, { kind: 'begun' }>, 'kind'> {
  /** Undefined while it is being started, or when the process that was to start it has died. */
  readonly start: StartedLogin | { readonly fault: Fault } | undefined;
  readonly wrongGuesses: number;
  readonly guessedRight: boolean;
  /** No password counts any more. */
  readonly barred: boolean;
}

export interface Progress {
  /**
   * How often the person has asked for something to be sent. Forms carry it, so that the second click of two, or a page that
   * is shown again, cannot ask a second time.
   */
  readonly round: number;
  /** How often a phone was, or was about to be, asked. */
  readonly prompts: number;
  readonly attempt: Attempt | undefined;
  /** Why the last wish was not fulfilled, until there is another one. */
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

const withAttempt = (progress: Progress, change: (attempt: Attempt) => Partial<Attempt>): Progress =>
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
        attempt: { ...begun, start: undefined, wrongGuesses: 0, guessedRight: false, barred: false },
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

/** How far a login has come, told from its facts alone. Pure. */
export const progressOf = (facts: readonly LoginFact[]): Progress => facts.reduce(after, nothing);
