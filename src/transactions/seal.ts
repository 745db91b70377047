/**
 * The worker's seal on an outcome: that it is the one that a worker has verified or made, for this transaction, attempt and
 * request. Whoever can write to Redis can write an outcome, but cannot seal it.
 *
 * It spares the readers a verification, which takes a hundred times as long as comparing a seal. The key is derived from the
 * service's master key, so every process of the service can seal and compare, and no other program can.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { SignatureRequest } from '../protocol/requests.ts';
import type { StoredOutcome } from './contract.ts';

export interface SealedEnd {
  readonly id: string;
  readonly attempt: number;
  readonly request: Pick<SignatureRequest, 'caller' | 'msisdn' | 'data'>;
  /** A seal in it does not count. */
  readonly outcome: StoredOutcome;
}

export interface Seals {
  /** @returns Base64url, 32 bytes. */
  seal(end: SealedEnd): string;
  /** Whether the outcome carries the seal that it should. */
  fits(end: SealedEnd): boolean;
}

/** The same text for the same end, however its JSON was ordered. Members that a later release adds are not in it. */
const textOf = ({ id, attempt, request: { caller, msisdn, data }, outcome }: SealedEnd): string =>
  JSON.stringify([
    [id, attempt],
    [caller.apId, caller.apTransId, caller.instant, msisdn.number],
    data.kind === 'text' ? [data.text] : [data.text, data.dtbd],
    outcome.kind === 'signature' ? [outcome.cms, outcome.certificates] : [],
    [outcome.profile, outcome.sscdId, outcome.validated, outcome.subscriberNetwork],
    Object.entries(outcome.geofencing ?? {}).sort(([one], [other]) => (one < other ? -1 : 1)),
  ]);

export const createSeals = (masterKey: Uint8Array): Seals => {
  const key = Buffer.from(hkdfSync('sha256', masterKey, '', 'paraph outcomes', 32));
  const macOf = (end: SealedEnd): Buffer => createHmac('sha256', key).update(textOf(end)).digest();
  return {
    seal: (end) => macOf(end).toString('base64url'),
    fits: (end) => {
      const given = Buffer.from(end.outcome.seal ?? '', 'base64url');
      const mac = macOf(end);
      return given.length === mac.length && timingSafeEqual(given, mac);
    },
  };
};
