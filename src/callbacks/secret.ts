/**
 * The secret that a receiver verifies callbacks with, in the form of Standard Webhooks (`whsec_…`).
 *
 * It is derived from the master key, by application or alert, and version. So neither the
 * configuration file nor Redis holds it, and all processes know it.
 */
import { hkdfSync } from 'node:crypto';

/** `id`: the AP_ID, or the name of the alert. */
type Purpose = 'callbacks' | 'alerts';

export const callbackSecret = (
  masterKey: Uint8Array,
  id: string,
  version: number,
  purpose: Purpose = 'callbacks',
): string => {
  const bytes = hkdfSync('sha256', masterKey, '', `paraph ${purpose} ${version} ${id}`, 32);
  return `whsec_${Buffer.from(bytes).toString('base64')}`;
};

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
