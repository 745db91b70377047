/**
 * The port to devices that sign for a person: a robot, a simulated person, a phone, a text message.
 *
 * A device answers at once or says that the answer will come later, by another process through
 * `transactions.answer`. The caller is a job that may run again after a crash, so a device may be
 * asked for the same attempt again: it shows it once, and then gives the same answer. So it must
 * not use up what it waits for.
 */
import type { Fault } from '../../packages/protocol/src/fault.ts';
import type {
  DeviceAnswer,
  LocationError,
  LocationReport,
  ReceiptOutcome,
  UpstreamTransaction,
} from '../../packages/protocol/src/outcome.ts';
import type {
  DataToBeSigned,
  ProfileName,
  SignatureRequest,
} from '../../packages/protocol/src/requests.ts';
import type { Sscd, Subscriber } from '../registry/subscriber.ts';

export interface Prompt {
  /** MSSP_TransID and attempt: together they name this prompt for ever. */
  readonly transactionId: string;
  readonly attempt: number;
  /** AP_ID of the application that asks. */
  readonly apId: string;
  /** Digits without plus. */
  readonly msisdn: string;
  /** Undefined for a number that is not registered (one-time passwords need no registration). */
  readonly subscriber: Subscriber | undefined;
  readonly sscd: Sscd | undefined;
  readonly data: DataToBeSigned;
  /** A signed attribute. It binds the signature to this transaction and attempt. */
  readonly nonce: Uint8Array;
  readonly language: string | undefined;
  /**
   * When this attempt was first put to the device. Like the next two in milliseconds since the
   * epoch, by the clock of Redis.
   */
  readonly promptedAt: number;
  readonly now: number;
  readonly deadline: number;
  /** The request as it was stored, for a device that passes it on to another service. */
  readonly request?: SignatureRequest;
  /** Aborts when the answer no longer counts. For devices that ask an upstream. */
  readonly signal?: AbortSignal;
}

/** What only the service knows that has asked the person in place of this one. */
export interface Told {
  readonly upstream: UpstreamTransaction;
  /** The method that was chosen there. */
  readonly profile?: ProfileName;
  readonly services: {
    readonly geofencing?: LocationReport | LocationError;
    readonly subscriberNetwork?: string;
  };
}

/**
 * answered     The attempt is over.
 * awaiting     The person has been asked. With `askAgainAt` (milliseconds since the epoch) the device
 *              is asked again then, as often as it says so until the deadline; each time is a turn
 *              of the job. Without it another process answers, through `transactions.answer`.
 * unreachable  The person was not asked; the caller tries again. `cause` is for the log.
 */
export type PromptResult =
  | { readonly kind: 'answered'; readonly answer: DeviceAnswer; readonly told?: Told }
  | {
      readonly kind: 'awaiting';
      readonly askAgainAt?: number;
      /** The transaction at the other service that asks the person. */
      readonly upstream?: UpstreamTransaction;
      /**
       * That service did not answer, and the person may have been asked. The cause, for the log.
       */
      readonly unanswered?: string;
    }
  | {
      readonly kind: 'unreachable';
      readonly cause: string;
      /** The upstream answered, and refused this prompt: that says nothing about others. */
      readonly refused?: boolean;
    };

/** A service over the network that a device needs for each prompt. */
export interface Upstream {
  /** Names it in the log: scheme, host and port, or `gateway` and its name. */
  readonly origin: string;
  readonly timeoutMs: number;
}

/** The origin of another service of this interface, as the log names it. */
export const serviceOrigin = (name: string): string => `gateway ${name}`;

export type ReceiptPrompt = Omit<
  Prompt,
  'attempt' | 'data' | 'nonce' | 'promptedAt' | 'now' | 'request' | 'signal'
> & {
  readonly message: string;
  /** Token of the activity that shows it, for an answer that comes later. */
  readonly answerTo: string;
  /** The transaction at the other service that made the signature; undefined if made here. */
  readonly upstream?: UpstreamTransaction | undefined;
};

/**
 * awaiting  `lapsesAs` says what silence means. `timeout`: the user saw it; `unanswered`: never.
 * later     Another process answers, by the token. Silence is `unanswered`.
 * refused   It was not shown, and never will be.
 */
export type ReceiptResult =
  | { readonly kind: 'answered'; readonly receipt: ReceiptOutcome }
  | { readonly kind: 'awaiting'; readonly lapsesAs: 'timeout' | 'unanswered' }
  | { readonly kind: 'later' }
  | { readonly kind: 'refused'; readonly fault: Fault }
  | { readonly kind: 'unreachable'; readonly cause: string };

export interface SigningDevice {
  /** The label in metrics and traces. Nothing decides by it. */
  readonly kind: string;
  /**
   * It shows one prompt at a time: a second request to the same SIM ends with fault 406, and one to
   * the same App replaces the first, which ends with 401. Without a screen it serves any number.
   */
  readonly screen: boolean;
  /**
   * Undefined for a device that answers from this process, its disk and Redis alone. Because an
   * upstream may hang, its device is prompted while the job sleeps (workers/upstreams.ts).
   */
  readonly upstream: Upstream | undefined;
  /** @throws When something it depends on is broken; the job is then run again later. */
  prompt(prompt: Prompt): Promise<PromptResult>;
  receipt(prompt: ReceiptPrompt): Promise<ReceiptResult>;
  /**
   * Tells the device that the attempt has ended, for any cause. Only for devices that show a prompt
   * until they are told.
   */
  withdraw?(attempt: Pick<Prompt, 'transactionId' | 'attempt' | 'msisdn'>): Promise<void>;
}
