/** What a page is made from. It says nothing about how it looks or reads. */
import type { FailureCause } from './failure-cause.ts';

export type NumberProblem = 'missing' | 'malformed' | 'not-listed' | 'limited' | 'busy';

/** Where a form is sent to, and the token without which nobody takes it. */
export interface FormTarget {
  readonly action: string;
  readonly csrf: string;
}

export type LoginView =
  | {
      readonly kind: 'number';
      readonly action: string;
      readonly csrf: string;
      /** Digits, with or without plus. */
      readonly hints: readonly { readonly msisdn: string; readonly default: boolean }[];
      readonly manualInput: boolean;
      /** What the person has just typed. */
      readonly entered?: string;
      readonly problem?: NumberProblem;
      readonly cancelAction: string;
    }
  | {
      readonly kind: 'waiting';
      readonly eventsUrl: string;
      readonly stateUrl: string;
      readonly sessionCode: string;
      readonly matchNumber: string | undefined;
      /** Shortened: `+41 … 01`. */
      readonly phone: string;
      readonly secondsLeft: number;
      readonly csrf: string;
      readonly cancelAction: string;
    }
  | {
      readonly kind: 'code';
      readonly action: string;
      readonly csrf: string;
      readonly phone: string;
      readonly problem?: 'wrong';
      readonly triesLeft: number;
      readonly cancelAction: string;
    }
  | {
      readonly kind: 'failed';
      readonly cause: FailureCause;
      /** Leads support to the log. */
      readonly reference: string;
      readonly retry?: FormTarget;
      readonly otherNumber?: FormTarget;
      readonly textMessage?: FormTarget;
      readonly returnUrl: string;
    }
  | { readonly kind: 'leaving'; readonly url: string; readonly how: 'signed' | 'cancelled' };

export type ErrorCause = 'request-unusable' | 'login-expired' | 'cookie-missing' | 'internal' | 'other';

export type Notice =
  | { readonly kind: 'error'; readonly cause: ErrorCause; readonly reference: string }
  /** `form` is HTML of the library, with a form whose id is `op.logoutForm`. */
  | { readonly kind: 'log-out'; readonly form: string }
  | { readonly kind: 'logged-out' };
