/**
 * The secret that a receiver verifies callbacks with, in the form of Standard Webhooks (`whsec_…`).
 *
 * It is derived from the master key, by application and version. So neither the configuration file
 * nor Redis holds it, and all processes know it.
 */
import { hkdfSync } from 'node:crypto';

export const callbackSecret = (masterKey: Uint8Array, apId: string, version: number): string => {
  const bytes = hkdfSync('sha256', masterKey, '', `paraph callbacks ${version} ${apId}`, 32);
  return `whsec_${Buffer.from(bytes).toString('base64')}`;
};

/**
 * The secrets to sign with, the current one first. The previous one is used too, so that a receiver
 * may change over at any time; a leaked one is worthless once the receiver has.
 */
export const callbackSecrets = (
  masterKey: Uint8Array,
  apId: string,
  version: number,
): readonly [string, ...string[]] => [
  callbackSecret(masterKey, apId, version),
  ...(version > 1 ? [callbackSecret(masterKey, apId, version - 1)] : []),
];
