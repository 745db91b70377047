/**
 * Everything that a page says, in one language.
 *
 * A client's name goes only where every language can take any name, or the phrase `someClient`, without bending it: after
 * “to”, “bei”, “à” and “a”.
 */
import type { FailureCause } from './failure-cause.ts';
import type { ErrorCause, NumberProblem } from './views.ts';

/** What has happened, what that means, and what to do next. */
export interface Explanation {
  readonly title: string;
  readonly what: string;
  readonly next: string;
}

export interface Words {
  /** In place of a client's name that is not known. */
  readonly someClient: string;
  readonly safety: string;
  readonly cancel: string;
  readonly backTo: (client: string) => string;
  readonly reference: string;
  /** Before the title of a page that reports a mistake in the form. */
  readonly error: string;
  readonly problemTitle: string;
  readonly number: {
    readonly title: (client: string) => string;
    readonly lead: string;
    readonly label: string;
    readonly hint: string;
    readonly choose: string;
    readonly confirm: string;
    readonly other: string;
    readonly send: string;
    readonly problems: Readonly<Record<NumberProblem, string>>;
    /** `missing` where there is nothing to type. */
    readonly notChosen: string;
  };
  readonly waiting: {
    readonly title: string;
    readonly lead: (phone: string, client: string) => string;
    readonly compare: string;
    readonly code: string;
    readonly number: string;
    readonly differs: string;
    readonly status: string;
    readonly timeLeft: string;
    /** Said once, to those who cannot see the clock. */
    readonly nearlyOver: (seconds: number) => string;
  };
  readonly code: {
    readonly title: string;
    readonly lead: (phone: string) => string;
    readonly label: string;
    readonly hint: string;
    readonly send: string;
    readonly wrong: (triesLeft: number) => string;
  };
  readonly failed: {
    readonly causes: Readonly<Record<FailureCause, Explanation>>;
    readonly retry: string;
    readonly otherNumber: string;
    readonly textMessage: string;
  };
  readonly leaving: {
    readonly signed: Omit<Explanation, 'next'>;
    readonly cancelled: Omit<Explanation, 'next'>;
    readonly onward: (client: string) => string;
  };
  readonly notices: Readonly<Record<ErrorCause, Explanation>>;
  readonly logOut: {
    readonly title: (tenant: string) => string;
    readonly what: string;
    readonly yes: string;
    readonly no: string;
  };
  readonly loggedOut: Omit<Explanation, 'next'>;
}
