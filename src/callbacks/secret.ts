/**
 * The secret that a receiver verifies callbacks with, in the form of Standard Webhooks (`whsec_…`).
 *
 * It is derived from the service key, by application or alert, and version. So neither the
 * configuration file nor Redis holds it, and all processes know it.
 */
import { deriveKey } from '../pki/sealed-json.ts';

/** `id`: the AP_ID, or the name of the alert. */
type Purpose = 'callbacks' | 'alerts';

export const callbackSecret = (
  serviceKey: Uint8Array,
  id: string,
  version: number,
  purpose: Purpose = 'callbacks',
): string => `whsec_${deriveKey(serviceKey, `paraph ${purpose} ${version} ${id}`).toString('base64')}`;

/**
 * The secrets to sign with, the current one first. The previous one is used too, so that a receiver
 * may change over at any time; a leaked one is worthless once the receiver has.
 */
export const callbackSecrets = (
  serviceKey: Uint8Array,
  id: string,
  version: number,
  purpose: Purpose = 'callbacks',
): readonly [string, ...string[]] => [
  callbackSecret(serviceKey, id, version, purpose),
  ...(version > 1 ? [callbackSecret(serviceKey, id, version - 1, purpose)] : []),
];
