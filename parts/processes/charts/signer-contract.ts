/** What a signer of a process takes, hears, tells and gives back (signer.machine.ts). */
import { z } from 'zod';
import type { AllowedHours } from './allowed-hours.ts';

export interface Person {
  readonly name: string;
  readonly msisdn: string;
  readonly text: string;
  readonly language?: string | undefined;
  readonly profile?: string | undefined;
  readonly email?: string | undefined;
}

export interface SignerInput {
  readonly apId: string;
  readonly process: { readonly id: string; readonly title?: string | undefined };
  readonly step: string;
  /** Of the signer in the step. A substitute has the key of the person that it replaces. */
  readonly key: string;
  /** The name of this child in the parent. */
  readonly child: string;
  readonly person: Person;
  readonly ask: 'now' | 'page' | AllowedHours;
  /** After a prompt that expired (208), did not arrive (209, 406) or was taken back (401). */
  readonly askAgain?: { readonly times: number; readonly everyMs: number } | undefined;
  /** After the signer was asked or invited, ascending. */
  readonly remindMs: readonly number[];
  /** Why this person is asked; absent for one that the step names. */
  readonly as?: 'substitute' | 'escalation' | undefined;
  /** When the parent has started it. */
  readonly at: number;
}

/** Input of `sign`. */
export interface SignAsk {
  readonly apId: string;
  readonly msisdn: string;
  readonly text: string;
  readonly language?: string | undefined;
  readonly profile?: string | undefined;
  readonly timeoutSeconds: number;
  /** How often in a row `sign` has answered `limited`. */
  readonly limited?: number | undefined;
}

/** `proof`: what the service needs for the evidence later. The chart only keeps it. */
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
}

export type SignResult =
  | Signed
  | NotSigned
  /** The number has had its prompts: nothing was submitted. Not before this time. */
  | { readonly kind: 'limited'; readonly until: number };

/** The output of the chart. `linkVersion`: of the links to its page, which show the end. */
export type SignerOutput = SignerEnd & { readonly linkVersion: number };

/** How a signer has ended. */
export type SignerEnd =
  | Signed
  | {
      readonly kind: 'refused';
      readonly at: number;
      readonly reason?: string | undefined;
      readonly msspTransId?: string | undefined;
    }
  | { readonly kind: 'withdrawn'; readonly at: number };

export interface Asked {
  readonly at: number;
  readonly msspTransId?: string | undefined;
  /** Of the fault that ended it. */
  readonly code?: number | undefined;
}

export interface SignerContext extends Omit<SignerInput, 'at'> {
  readonly since: number;
  readonly asks: readonly Asked[];
  /** Prompts that the schedule may still add. */
  readonly asksLeft: number;
  /** No prompt by the schedule before this time. */
  readonly notBefore: number;
  /** Of the last prompt, when the number had had its prompts: the time of the next one. */
  readonly limitedUntil?: number | undefined;
  /** Answers `limited` since the last prompt. */
  readonly limited: number;
  readonly reminded: number;
  /**
   * Links to the page carry it. It begins with the time of the beginning, because the id may be
   * used again after the retention; REVOKE_LINK raises it.
   */
  readonly linkVersion: number;
  readonly end?: SignerEnd | undefined;
}

/** Events that come from outside: the signer's page, operators, and mails. */
export const signerEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('SIGN') }),
  z.object({ type: z.literal('DECLINE'), reason: z.string().max(500).optional() }),
  z.object({ type: z.literal('REVOKE_LINK') }),
  /** A mail with the link was not delivered. `code`: the reply of a server that refused it. */
  z.object({ type: z.literal('UNDELIVERED'), code: z.number().optional() }),
]);
export type SignerOrder = Readonly<z.infer<typeof signerEventSchema>>;
export type SignerEvent = SignerOrder | { readonly type: 'WITHDRAW' } | { readonly type: 'AGAIN' };

/** To the parent. `child` names the child there. */
export type SignerMessage =
  | { readonly type: 'UNREACHED'; readonly child: string; readonly code: number }
  | { readonly type: 'ASKED'; readonly child: string }
  | { readonly type: 'UNDELIVERED'; readonly child: string; readonly code?: number | undefined };

/** For the application and the person: a callback, a mail with the link. */
export interface SignerNotice {
  readonly what: 'invited' | 'reminded' | 'unreached' | 'undelivered';
  readonly apId: string;
  readonly process: SignerInput['process'];
  readonly step: string;
  readonly key: string;
  readonly as?: SignerInput['as'];
  readonly person: Person;
  readonly linkVersion: number;
  /** Of the fault, or of the mail server. */
  readonly code?: number | undefined;
}
