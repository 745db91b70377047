/**
 * The secret that a receiver verifies callbacks with, in the form of Standard Webhooks (`whsec_…`).
 *
 * It is derived from the master key, by application or alert, and version. So neither the
 * configuration file nor Redis holds it, and all processes know it.
 */
import { deriveKey } from '../pki/sealed-json.ts';

/** `id`: the AP_ID, or the name of the alert. */
type Purpose = 'callbacks' | 'alerts';

export const callbackSecret = (
  masterKey: Uint8Array,
  id: string,
  version: number,
  purpose: Purpose = 'callbacks',
): string => `whsec_${deriveKey(masterKey, `paraph ${purpose} ${version} ${id}`).toString('base64')}`;

/**
 * The secrets to sign with, the current one first. The previous one is used too, so that a receiver
 * may change over at any time; a leaked one is worthless once the receiver has.
 */
export const callbackSecrets = (
  masterKey: Uint8Array,
  id: string,
  version: number,
  purpose: Purpose = 'callbacks',
): readonly [string, ...string[]] => [
  callbackSecret(masterKey, id, version, purpose),
  ...(version > 1 ? [callbackSecret(masterKey, id, version - 1, purpose)] : []),
];
