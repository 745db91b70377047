/** What a page is made from; nothing about its style or words. */
import type { FormTarget } from '../../http/pages/markup.ts';
import type { OauthClient } from '../../registry/oauth-client.ts';
import type { Words } from './words-en.ts';

export type NumberError = keyof Words['number']['problems'];
export type FailureCause = keyof Words['failed']['causes'];
export type NoticeCause = keyof Words['notices'] | 'limited';

/** What can be done after a failure; each is the name of its form. */
export type WayOn = 'text' | 'retry' | 'other';

export type LoginView = FormTarget &
  (
    | {
        readonly kind: 'number';
        /** Digits, with or without plus. */
        readonly hints: readonly { readonly msisdn: string; readonly default: boolean }[];
        readonly manualInput: boolean;
        /** What the person has just typed. */
        readonly entered?: string | undefined;
        readonly problem?: NumberError | undefined;
        /** Whether a phone in a browser may begin the login. */
        readonly phoneStart: OauthClient['phoneStart'];
      }
    | {
        readonly kind: 'waiting';
        readonly sessionCode: string;
        readonly matchNumber: string | undefined;
        /** Shortened: `+41 … 01`. */
        readonly phone: string;
        readonly secondsLeft: number;
      }
    | {
        readonly kind: 'code';
        readonly phone: string;
        /** The last password was wrong. */
        readonly wrong: boolean;
        readonly triesLeft: number;
      }
    | {
        readonly kind: 'failed';
        readonly cause: FailureCause;
        /** Leads support to the log. */
        readonly reference: string;
        /** The first one stands out. */
        readonly ways: readonly WayOn[];
      }
    | { readonly kind: 'leaving'; readonly how: 'signed' | 'cancelled' }
  );

export type ViewOf<Kind extends LoginView['kind']> = Extract<LoginView, { kind: Kind }>;

export type Notice =
  | {
      readonly kind: 'error';
      readonly cause: NoticeCause;
      readonly reference: string;
      /** The error for developers, in English: `invalid_request: client_id is missing`. */
      readonly detail?: string;
    }
  /** `form` is HTML of the library, with a form whose id is `op.logoutForm`. */
  | { readonly kind: 'log-out'; readonly form: string }
  | { readonly kind: 'logged-out' }
  /** The person did not want to log out. */
  | { readonly kind: 'still-logged-in' };
