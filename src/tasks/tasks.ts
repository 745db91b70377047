/** What a signer's page shows and does. */
import type { LoginLanguage } from '../registry/oauth-client.ts';
import type { Link } from './links.ts';

/** Why the last prompt led to nothing. */
export type AskProblem = 'expired' | 'unreachable' | 'busy' | 'limited' | 'failed';

/**
 * open    The person may press Sign, unless `mayAsk` is false: then there were too many prompts.
 * asking  The phone shows the prompt until `deadline`, in milliseconds since the epoch.
 * ended   Nothing can be done any more.
 */
export type TaskState =
  | { readonly kind: 'open'; readonly mayAsk: boolean; readonly problem?: AskProblem | undefined }
  | { readonly kind: 'asking'; readonly deadline: number }
  | { readonly kind: 'ended'; readonly how: 'signed' | 'refused' | 'withdrawn'; readonly at: number };

export interface Task {
  /** Who asks, as people know them. */
  readonly application: string;
  /** What for; undefined where the application has not said it. */
  readonly title?: string | undefined;
  readonly step: string;
  readonly name: string;
  /** Digits. */
  readonly msisdn: string;
  readonly text: string;
  /** What the application asked for; undefined for the browser's. */
  readonly language?: LoginLanguage | undefined;
  /** Who has signed already, in order. */
  readonly signed: readonly { readonly name: string; readonly at: number }[];
  readonly state: TaskState;
}

/** busy: nothing has happened; the same may be tried again. */
export type Done = 'done' | 'busy';

export interface Tasks {
  /** @returns Undefined for a link that is revoked or whose signer is unknown by now. */
  find(link: Link): Promise<Task | undefined>;
  /** Whether the phone shows the prompt. Costs one read. */
  isAsking(link: Link): Promise<boolean>;
  /** Asks the phone. Does nothing when the signer's state does not allow it. */
  sign(link: Link): Promise<Done>;
  /** @param reason For the application; up to {@link maxReasonLength} characters. */
  decline(link: Link, reason: string | undefined): Promise<Done>;
}

export const maxReasonLength = 500;
