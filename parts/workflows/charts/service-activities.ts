/**
 * Activities that the service provides to charts of its operators, by name: the worker has the
 * implementations (activities/workflow-work.ts). A chart file may use a copy of this package of its
 * own.
 *
 * ```ts
 * import { service } from 'paraph/workflow';
 * const chart = setup({ actors: { sign: service.sign } }).createMachine(…);
 * ```
 */

import { providedActivity } from '../../../packages/engine/src/define.ts';
import type { ReceiptOutcome } from '../../../packages/protocol/src/outcome.ts';

/** What a person is asked to sign. */
export interface SignInput {
  /** E.164, with or without plus. */
  readonly msisdn: string;
  readonly text: string;
  /** The language of the phone's screens: `en`, `de`, … */
  readonly language?: string | undefined;
  /** A name or URI of a signature profile; default `Any-LoA4`. */
  readonly profile?: string | undefined;
  /** How long the person has; default 60. */
  readonly timeoutSeconds?: number | undefined;
}

/** The input of the activity of a part that asks for signatures: its chart names the application. */
export interface SignAsk {
  readonly apId: string;
  readonly msisdn: string;
  readonly text: string;
  readonly language?: string | undefined;
  readonly profile?: string | undefined;
  readonly timeoutSeconds: number;
  /** The number of answers `limited` of `sign` in a row. */
  readonly limited?: number | undefined;
}

/** A signature. `proof` is needed for the evidence later; the chart only keeps it. */
export interface Signed {
  readonly kind: 'signed';
  readonly msspTransId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly attempt: number;
  readonly proof?: unknown;
}

/** The request was refused, or has ended without a signature. */
export interface NotSigned {
  readonly kind: 'failed';
  /** The code of the fault, such as 401; `reason` is its name, such as `USER_CANCEL`. */
  readonly code: number;
  readonly reason: string;
  readonly detail: string;
  /** Undefined when the request itself was refused, so that there was no prompt. */
  readonly msspTransId?: string | undefined;
  /**
   * True for a fault 401 that is not the person's answer: an operator, the application or a newer
   * request to the same App has cancelled the prompt.
   */
  readonly takenBack?: boolean | undefined;
}

export type SignResult =
  | Signed
  | NotSigned
  /** The number has had its limit of prompts, so nothing was submitted. `until`: the next time. */
  | { readonly kind: 'limited'; readonly until: number };

/** How a signature has ended. An expected end never throws. */
export type SignOutput = Omit<Signed, 'proof'> | NotSigned;

/** A message to the person who has signed, shown on the same phone. */
export interface ReceiptInput {
  /** The signature of the application that the receipt is about. Each has one receipt. */
  readonly msspTransId: string;
  /** 239 characters of the GSM alphabet, else 119. */
  readonly text: string;
  /** The language of the phone's screens. */
  readonly language?: string | undefined;
}

/** `receipt`: what the person did. `unanswered`: the phone never showed it. */
export type ReceiptOutput =
  | { readonly kind: 'answered'; readonly receipt: ReceiptOutcome }
  | Omit<NotSigned, 'msspTransId' | 'takenBack'>;

/** A call to a program of the application, signed as callbacks are. */
export interface WebhookInput {
  /** https. Default: the address of the application's callback. */
  readonly url?: string | undefined;
  /** JSON. */
  readonly body: unknown;
  /** Tries in all; default 5. */
  readonly attempts?: number | undefined;
  /** Pause after the first failed try, doubled after each further one; default 1000. */
  readonly backoffMs?: number | undefined;
  /** The longest pause; default 60 000. */
  readonly maxBackoffMs?: number | undefined;
}

/**
 * answered  `status`: any but 408, 425, 429 and 5xx. `body`: of an answer that is JSON.
 * failed    No try was answered so, or the answer is longer than 64 KiB. `status`: of the last one.
 */
export type WebhookOutput =
  | { readonly kind: 'answered'; readonly status: number; readonly body?: unknown }
  | { readonly kind: 'failed'; readonly problem: string; readonly status?: number };

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

/** Names of the activities that the worker provides. */
export const serviceActivities = {
  sign: 'service.sign',
  receipt: 'service.receipt',
  callWebhook: 'service.callWebhook',
  sendMail: 'service.sendMail',
} as const;

export const service = {
  /**
   * Asks a person to sign: an ordinary transaction of the application. It is cancelled when the
   * chart leaves the state before its end.
   */
  sign: providedActivity<SignInput, SignOutput>(serviceActivities.sign),
  /** Sends a receipt for a signature, and waits for what the person does with it. */
  receipt: providedActivity<ReceiptInput, ReceiptOutput>(serviceActivities.receipt),
  /** Posts JSON, under the same `webhook-id` at each try, and gives the answer. */
  callWebhook: providedActivity<WebhookInput, WebhookOutput>(serviceActivities.callWebhook),
  /** Sends a mail through the server of the configuration (`mail`), for hours where it is away. */
  sendMail: providedActivity<MailInput, MailOutput>(serviceActivities.sendMail),
};
