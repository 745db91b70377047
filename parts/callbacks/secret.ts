/**
 * The secret with which a receiver verifies callbacks, in the form of Standard Webhooks
 * (`whsec_…`).
 *
 * It is derived from the service key, by application and version. So neither the configuration file
 * nor Redis contains it, and all processes can compute it.
 */
import { deriveKey } from '../../packages/pki/src/sealed-json.ts';

/** @param apId The AP_ID of the application. */
export const callbackSecret = (serviceKey: Uint8Array, apId: string, version: number): string =>
  `whsec_${deriveKey(serviceKey, `paraph callbacks ${version} ${apId}`).toString('base64')}`;

/**
 * The secrets for signing, the current one first. The previous one is used, too, so that a receiver
 * may change to the new one at any time. A leaked secret is useless after that.
 */
export const callbackSecrets = (
  serviceKey: Uint8Array,
  apId: string,
  version: number,
): readonly [string, ...string[]] => [
  callbackSecret(serviceKey, apId, version),
  ...(version > 1 ? [callbackSecret(serviceKey, apId, version - 1)] : []),
];
