/**
 * What the activities of a signature get and give (workers/signature.worker.ts implements them).
 * All of it is plain data and lies in the record of the instance.
 */
import type { Fault } from '../src/protocol/fault.ts';
import type { DeviceAnswer, Outcome } from '../src/protocol/outcome.ts';
import type { ProfileName } from '../src/protocol/requests.ts';

/** The device that an attempt goes to. The choice stands when the registry changes later. */
export interface Chosen {
  readonly profile: ProfileName;
  readonly sscdId?: string | undefined;
  /** The device shows one prompt at a time, and shows this one until the attempt has ended. */
  readonly screen?: true | undefined;
  /** Origin of the service that brings the prompt to the device. */
  readonly upstream?: string | undefined;
}

/** Input of `choose` and `ask`. */
export interface Ask {
  readonly attempt: number;
  readonly deadline: number;
  readonly chosen?: Chosen | undefined;
  /** When the attempt was first put to the device; undefined before that. */
  readonly promptedAt?: number | undefined;
  readonly isAsked: boolean;
  readonly failures: number;
}

/** Input of `verify`. */
export interface Verify {
  readonly attempt: number;
  readonly chosen: Chosen | undefined;
  readonly answer: DeviceAnswer | undefined;
}

/** `isAsked: false` here and below: the device was not even tried. */
export type Concluded =
  | { readonly kind: 'signed'; readonly outcome: Outcome }
  | { readonly kind: 'failed'; readonly fault: Fault; readonly isAsked?: false };

/**
 * Output of `ask`.
 *
 * awaiting     The person has been asked. `againAt`: the device wants to be asked again then.
 *              `isUnanswered`: the upstream did not answer, and the person may have been asked.
 * unreachable  Nobody has been asked. `isRefused`: the upstream works, but it refused the message.
 */
export type Asked =
  | Concluded
  | {
      readonly kind: 'awaiting';
      readonly againAt?: number | undefined;
      readonly isAsked?: false;
      readonly isUnanswered?: true;
    }
  | { readonly kind: 'unreachable'; readonly isRefused?: true; readonly isAsked?: false };

/** Output of `choose`. ask: it must be stored that the device is asked, before it is asked. */
export type Choice =
  | Concluded
  | { readonly kind: 'ask' | 'unreachable'; readonly chosen: Chosen }
  | { readonly kind: 'awaiting'; readonly againAt?: number | undefined; readonly chosen: Chosen };
