/**
 * The secret that a receiver verifies callbacks with, in the form of Standard Webhooks (`whsec_…`).
 *
 * It is derived from the service key, by application and version. So neither the
 * configuration file nor Redis holds it, and all processes know it.
 */
import { deriveKey } from '../pki/sealed-json.ts';

/** @param apId AP_ID. */
export const callbackSecret = (serviceKey: Uint8Array, apId: string, version: number): string =>
  `whsec_${deriveKey(serviceKey, `paraph callbacks ${version} ${apId}`).toString('base64')}`;

/**
 * The secrets to sign with, the current one first. The previous one is used too, so that a receiver
 * may change over at any time; a leaked one is worthless once the receiver has.
 */
export const callbackSecrets = (
  serviceKey: Uint8Array,
  apId: string,
  version: number,
): readonly [string, ...string[]] => [
  callbackSecret(serviceKey, apId, version),
  ...(version > 1 ? [callbackSecret(serviceKey, apId, version - 1)] : []),
];
