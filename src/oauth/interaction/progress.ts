/** How far a login has come, told from its facts alone. Pure. */
import type { Fault } from '../../protocol/fault.ts';
import type { StartedLogin } from '../logins.ts';
import type { Ending, LoginFact } from './facts.ts';

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

export const progressOf = (facts: readonly LoginFact[]): Progress => facts.reduce(after, nothing);
