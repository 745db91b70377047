/**
 * The PIN of a phone. It never leaves the browser: what comes here is a verifier that was derived
 * from it, and what goes back is the service's share of the key that wraps the phone's key. So
 * nobody can try PINs without the service, which counts.
 */
import { isEqual } from '../../packages/pki/src/is-equal.ts';
import { deriveKey } from '../../packages/pki/src/sealed-json.ts';
import type { Gate, Phone, Phones } from './phones.ts';
import type { RecoveryRequest } from './requests.ts';
import { deriverOf, hashOf, newRecoveryCode, recoveryHash } from './secrets.ts';

export type PinResult =
  | { readonly kind: 'right'; readonly share: string }
  | { readonly kind: 'wrong'; readonly triesLeft: number }
  /** The PIN is blocked, by this try or an earlier one. */
  | { readonly kind: 'blocked' }
  /** The phone has a passkey, or was removed meanwhile. */
  | { readonly kind: 'none' };

const isGoodFor = (gate: Gate, used: string): boolean =>
  gate.kind === 'pin' &&
  [gate.recoveryHash, gate.formerRecoveryHash].some(
    (known) => known !== undefined && isEqual(used, known),
  );

export const createPins = ({
  phones,
  serviceKey,
  now,
}: {
  readonly phones: Phones;
  readonly serviceKey: Uint8Array;
  readonly now: () => number;
}) => ({
  enter: async (phone: Phone, verifier: string): Promise<PinResult> => {
    const { gate } = phone;
    if (gate.kind !== 'pin') return { kind: 'none' };
    const isRight = isEqual(hashOf(verifier), gate.verifierHash);
    const judged = await phones.judge(phone, isRight ? now() : undefined);
    if (judged.kind === 'unknown') return { kind: 'none' };
    if (judged.kind !== 'right') return judged;
    const { formerRecoveryHash, ...known } = gate;
    // The browser has the answer that brought this PIN and its code, so the former code is used up.
    // Unless a recovery has set the next PIN since this one was read.
    if (formerRecoveryHash !== undefined) {
      await phones.change(phone, ({ gate: present }) =>
        present.kind === 'pin' && present.verifierHash === gate.verifierHash
          ? { gate: known }
          : undefined,
      );
    }
    return { kind: 'right', share: gate.share };
  },

  /**
   * Sets a new PIN, and unblocks. The browser opens its key with the recovery code, which is used
   * up when the new PIN is entered: without the answer the browser has nothing but this code. The
   * same request has the same answer, in whatever order copies of it arrive.
   *
   * @returns The new share and recovery code; undefined for a wrong code.
   */
  recover: async (phone: Phone, { code, gate }: RecoveryRequest) => {
    const used = recoveryHash(code);
    const { kind, salt, verifier } = gate;
    const key = deriveKey(serviceKey, 'paraph phone recovery');
    const derive = deriverOf(key, [phone.id, used, salt, verifier]);
    const share = derive('share').toString('base64url');
    const recoveryCode = newRecoveryCode(derive('code'));
    const hashes = {
      verifierHash: hashOf(verifier),
      recoveryHash: recoveryHash(recoveryCode),
      formerRecoveryHash: used,
    };
    const isSet = await phones.change(phone, ({ gate: present }) =>
      isGoodFor(present, used) ? { gate: { kind, salt, share, ...hashes } } : undefined,
    );
    if (!isSet) return undefined;
    await phones.noteEntered(phone, now());
    return { share, recoveryCode };
  },
});

export type Pins = ReturnType<typeof createPins>;

/** A signature needs a PIN that was entered after its prompt was made. */
export const isOpenFor = ({ enteredAt, isBlocked }: Phone, promptedAt: number): boolean =>
  !isBlocked && enteredAt >= promptedAt;
