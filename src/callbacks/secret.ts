/**
 * The secret that a receiver verifies callbacks with, in the form of Standard Webhooks (`whsec_…`).
 *
 * It is derived from the master key, by application and version. So the configuration file, which people read and keep in
 * repositories, holds none, nothing is stored that could be lost or read in Redis, and all processes know it without being told.
 * Whoever has the master key can show it to whoever runs the receiver.
 */
import { hkdfSync } from 'node:crypto';

export const callbackSecret = (masterKey: Uint8Array, apId: string, version: number): string => {
  const bytes = hkdfSync('sha256', masterKey, '', `paraph callbacks ${version} ${apId}`, 32);
  return `whsec_${Buffer.from(bytes).toString('base64')}`;
};

/**
 * The secrets to sign with, the current one first. The one before is used, too, so that a receiver may change over whenever
 * it likes; a leaked secret is worthless as soon as the receiver has, since it is the receiver who verifies.
 */
export const callbackSecrets = (
  masterKey: Uint8Array,
  apId: string,
  version: number,
): readonly [string, ...string[]] => [
  callbackSecret(masterKey, apId, version),
  ...(version > 1 ? [callbackSecret(masterKey, apId, version - 1)] : []),
];
