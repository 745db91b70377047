/**
 * Activities that the service provides to charts of its operators, by name: the worker has the
 * implementations (workers/workflow.worker.ts). A chart file may use a copy of this package of its
 * own.
 *
 * ```ts
 * import { service } from 'paraph/workflow';
 * const chart = setup({ actors: { sign: service.sign } }).createMachine(…);
 * ```
 */
import { providedActivity } from '../engine/define.ts';

/** What a person is asked to sign. */
export interface SignInput {
  /** E.164, with or without plus. */
  readonly msisdn: string;
  readonly text: string;
  /** Of the phone's screens: `en`, `de`, … */
  readonly language?: string | undefined;
  /** A name or URI of a signature profile; default `Any-LoA4`. */
  readonly profile?: string | undefined;
  /** How long the person has; default 60. */
  readonly timeoutSeconds?: number | undefined;
  /** AP_ID in whose name the person is asked. Default: that of the instance. */
  readonly apId?: string | undefined;
}

/** How a signature has ended. An expected end never throws. */
export type SignOutput =
  | {
      readonly kind: 'signed';
      readonly msspTransId: string;
      /** Milliseconds since the epoch. */
      readonly at: number;
      readonly attempt: number;
    }
  | {
      readonly kind: 'failed';
      /** Of the fault, and its reason, such as 401 and `USER_CANCEL`. */
      readonly code: number;
      readonly reason: string;
      readonly detail: string;
      /** Undefined when nobody was asked: the request itself was refused. */
      readonly msspTransId?: string | undefined;
      /**
       * Fault 401 that is not the person's answer: an operator, the application or a newer request to
       * the same App has taken the prompt back.
       */
      readonly takenBack?: boolean | undefined;
    };

export interface MailInput {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string | undefined;
}

/** `refused`: no later try helps. `code` is the reply of the mail server (RFC 5321 4.2). */
export type MailOutput =
  | { readonly kind: 'sent'; readonly messageId: string }
  | { readonly kind: 'refused'; readonly code?: number };

export const service = {
  /**
   * Asks a person to sign: an ordinary transaction of the application. It is cancelled when the
   * chart leaves the state before its end.
   */
  sign: providedActivity<SignInput, SignOutput>('service.sign'),
  /** Sends a mail through the server of the configuration (`mail`), for hours where it is away. */
  sendMail: providedActivity<MailInput, MailOutput>('service.sendMail'),
};
