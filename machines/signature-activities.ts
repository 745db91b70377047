/**
 * The inputs and outputs of the activities of a signature, which workers/signature.worker.ts
 * implements. All are plain data in the record of the instance.
 */
import type { Fault } from '../packages/protocol/src/fault.ts';
import type { DeviceAnswer, Outcome } from '../packages/protocol/src/outcome.ts';
import type { ProfileName } from '../packages/protocol/src/requests.ts';

/** The device of an attempt. The choice stays when the registry changes later. */
export interface Chosen {
  readonly profile: ProfileName;
  readonly sscdId?: string | undefined;
  /**
   * True for a device that shows one prompt at a time, and this one until the attempt has ended.
   */
  readonly screen?: true | undefined;
  /** The origin of the service that brings the prompt to the device. */
  readonly upstream?: string | undefined;
}

/** The input of `choose` and `ask`. */
export interface Ask {
  readonly attempt: number;
  readonly deadline: number;
  readonly chosen?: Chosen | undefined;
  /** The time at which the attempt was first sent to the device; undefined before that. */
  readonly promptedAt?: number | undefined;
  readonly isAsked: boolean;
  readonly failures: number;
}

/** The input of `verify`. */
export interface Verify {
  readonly attempt: number;
  readonly chosen: Chosen | undefined;
  readonly answer: DeviceAnswer | undefined;
}

/** The end of an attempt. `isAsked: false` here and below: the device was not tried. */
export type Concluded =
  | { readonly kind: 'signed'; readonly outcome: Outcome }
  | { readonly kind: 'failed'; readonly fault: Fault; readonly isAsked?: false };

/**
 * The output of `ask`.
 *
 * awaiting     The person has the prompt. `againAt`: the time at which to ask the device again.
 *              `isUnanswered`: the upstream did not answer, and the person may have the prompt.
 * unreachable  The person has no prompt. `isRefused`: the upstream works, but refused the message.
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

/** The output of `choose`. `ask`: the chart must store that the device is asked, before it asks. */
export type Choice =
  | Concluded
  | { readonly kind: 'ask' | 'unreachable'; readonly chosen: Chosen }
  | { readonly kind: 'awaiting'; readonly againAt?: number | undefined; readonly chosen: Chosen };
