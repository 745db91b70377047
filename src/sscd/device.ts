/**
 * The port to whatever makes signatures for a person: a robot, a simulated person, a text message, later a phone in a
 * browser or another signature service.
 *
 * A device is asked and either answers at once or says that the answer will come later. The caller is a job that may
 * run again after a crash, so the same attempt can be asked more than once: a device shows it once, and asking again
 * is how its progress is learned. An answer that comes later is brought by another process, through
 * `transactions.answer`.
 */
import type { DeviceAnswer, ReceiptOutcome } from '../../machines/outcome.ts';
import type { DataToBeSigned } from '../protocol/requests.ts';
import type { Sscd, Subscriber } from '../registry/subscriber.ts';

export interface Prompt {
  /** MSSP_TransID and attempt: together they name this prompt for ever. */
  readonly transactionId: string;
  readonly attempt: number;
  /** Digits without plus. */
  readonly msisdn: string;
  /** Undefined for a number that is not registered (one-time passwords need no registration). */
  readonly subscriber: Subscriber | undefined;
  readonly sscd: Sscd | undefined;
  readonly data: DataToBeSigned;
  /** For the signed attributes: without it a signature does not count for this transaction and attempt. */
  readonly nonce: Uint8Array;
  readonly language: string | undefined;
  /** When this attempt was first put to the device; milliseconds since the epoch, like `now` and `deadline`. */
  readonly promptedAt: number;
  readonly now: number;
  readonly deadline: number;
}

/**
 * answered     The attempt is over.
 * awaiting     Somebody has been asked. `askAgainAt` is for devices that must be asked again to learn more.
 * unreachable  The transport failed and nobody has been asked; the caller tries again. `cause` is for the log.
 */
export type PromptResult =
  | { readonly kind: 'answered'; readonly answer: DeviceAnswer }
  | { readonly kind: 'awaiting'; readonly askAgainAt?: number }
  | {
      readonly kind: 'unreachable';
      readonly cause: string;
      /** The upstream answered, and refused this prompt: that says nothing about others. */
      readonly refused?: boolean;
    };

/** A service that a device needs for each prompt, over the network. */
export interface Upstream {
  /** Scheme, host and port. What has the same origin fails together. */
  readonly origin: string;
  /** No prompt lasts longer. */
  readonly timeoutMs: number;
}

export type ReceiptPrompt = Omit<Prompt, 'attempt' | 'data' | 'nonce' | 'promptedAt' | 'now'> & {
  readonly message: string;
};

/** `lapsesAs` says what silence until the deadline will mean: the user saw it (`timeout`) or never did. */
export type ReceiptResult =
  | { readonly kind: 'answered'; readonly receipt: ReceiptOutcome }
  | { readonly kind: 'awaiting'; readonly lapsesAs: 'timeout' | 'unanswered' }
  | { readonly kind: 'unreachable'; readonly cause: string };

export interface SigningDevice {
  readonly kind: string;
  /**
   * A person looks at this device: it shows one prompt at a time. Devices without a screen serve any number of
   * requests at once.
   */
  readonly screen: boolean;
  /**
   * Undefined for a device that answers from this process and Redis alone. A device that has one is prompted while its job
   * sleeps (workers/upstreams.ts), because it may hang; a receipt is shown by devices without one only.
   */
  readonly upstream: Upstream | undefined;
  /** @throws When something it depends on is broken; the job is then run again later. */
  prompt(prompt: Prompt): Promise<PromptResult>;
  receipt(prompt: ReceiptPrompt): Promise<ReceiptResult>;
}
