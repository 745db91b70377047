/** The input, events, messages and output of a signer of a process (signer.machine.ts). */
import { z } from 'zod';
import type { Signed } from '../../workflows/index.ts';
import type { AllowedHours } from './allowed-hours.ts';

export type { SignAsk, SignResult } from '../../workflows/index.ts';

export interface Person {
  readonly name: string;
  readonly msisdn: string;
  readonly text: string;
  readonly language?: string | undefined;
  readonly profile?: string | undefined;
  readonly email?: string | undefined;
  /** Members of another part (addition.ts). */
  readonly added?: Readonly<Record<string, unknown>> | undefined;
}

/** What another part has of the process and of the step, for its activity `complete`. */
export interface SignerAddition {
  /** Of the definition's step. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly prepared: Readonly<Record<string, unknown>>;
}

export interface SignerInput {
  readonly apId: string;
  readonly process: { readonly id: string; readonly title?: string | undefined };
  readonly step: string;
  /** The key of the signer in the step. A substitute has the key of the replaced person. */
  readonly key: string;
  /** The name of this child in the parent. */
  readonly child: string;
  readonly person: Person;
  readonly ask: 'now' | 'page' | AllowedHours;
  /**
   * Further prompts after one that expired (208), did not arrive (209, 406) or was cancelled (401).
   */
  readonly askAgain?: { readonly times: number; readonly everyMs: number } | undefined;
  /** The times of reminders, in milliseconds after the prompt or invitation; ascending. */
  readonly remindMs: readonly number[];
  /** The reason why this person is asked; absent for a signer that the step names. */
  readonly as?: 'substitute' | 'escalation' | undefined;
  /** Absent where a signature is all. */
  readonly addition?: SignerAddition | undefined;
  /** The time at which the parent has started this child. */
  readonly at: number;
}

/** The output of the chart. `linkVersion` is that of the links to its page, which show the end. */
export type SignerOutput = SignerEnd & { readonly linkVersion: number };

/** The input of `complete`: a person has signed. */
export interface Completion
  extends SignerAddition,
    Pick<SignerInput, 'step' | 'key' | 'child' | 'person'> {
  readonly signed: Signed;
}

/** The output of `complete`, and of `prepare`. `unusable`: for good, so the process fails. */
export type Completed =
  | { readonly kind: 'added'; readonly members: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unusable'; readonly problem: string };

/** The end of a signer. */
export type SignerEnd =
  | (Signed & { readonly completed?: Completed | undefined })
  | {
      readonly kind: 'refused';
      readonly at: number;
      readonly reason?: string | undefined;
      readonly msspTransId?: string | undefined;
    }
  | { readonly kind: 'withdrawn'; readonly at: number };

export interface AskedSigner {
  readonly at: number;
  readonly msspTransId?: string | undefined;
  /** The code of the fault that ended the prompt. */
  readonly code?: number | undefined;
}

export interface SignerContext extends Omit<SignerInput, 'at'> {
  readonly since: number;
  readonly asks: readonly AskedSigner[];
  /** The number of prompts that the schedule may still add. */
  readonly asksLeft: number;
  /** The time before which the schedule sends no prompt. */
  readonly notBefore: number;
  /** The time of the next prompt, when the last one met the limit of the number. */
  readonly limitedUntil?: number | undefined;
  /** The number of answers `limited` since the last prompt. */
  readonly limited: number;
  readonly reminded: number;
  /**
   * The version in links to the page. It begins with the time of the beginning, because the id may
   * be used again after the retention. REVOKE_LINK raises it.
   */
  readonly linkVersion: number;
  readonly end?: SignerEnd | undefined;
}

/** Events that come from outside: the signer's page, operators, and mails. */
export const signerEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('SIGN') }),
  z.object({ type: z.literal('DECLINE'), reason: z.string().max(500).optional() }),
  z.object({ type: z.literal('REVOKE_LINK') }),
  /** A mail with the link was not delivered. `code` is the reply of a server that refused it. */
  z.object({ type: z.literal('UNDELIVERED'), code: z.number().optional() }),
]);
export type SignerOrder = Readonly<z.infer<typeof signerEventSchema>>;
export type SignerEvent =
  | SignerOrder
  /** `isFailing`: because the process fails, not because others have signed. */
  | { readonly type: 'WITHDRAW'; readonly isFailing?: true | undefined }
  | { readonly type: 'AGAIN' };

/** A message to the parent. `child` is the name of the child there. */
export type SignerMessage =
  | { readonly type: 'UNREACHED'; readonly child: string; readonly code: number }
  | { readonly type: 'ASKED'; readonly child: string }
  | { readonly type: 'UNDELIVERED'; readonly child: string; readonly code?: number | undefined };

/** A notice to the application and the person, as a callback and a mail with the link. */
export interface SignerNotice {
  readonly what: 'invited' | 'reminded' | 'unreached' | 'undelivered';
  readonly apId: string;
  readonly process: SignerInput['process'];
  readonly step: string;
  readonly key: string;
  readonly as?: SignerInput['as'];
  readonly person: Person;
  readonly linkVersion: number;
  /** The code of the fault, or of the mail server. */
  readonly code?: number | undefined;
}
