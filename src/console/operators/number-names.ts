/**
 * Names of numbers in the audit log. Only the service key can make them, so that a reader of the log
 * does not learn whose number an operator has looked for or changed.
 */
import { createHmac } from 'node:crypto';
import { deriveKey } from '../../../packages/pki/src/sealed-json.ts';

/** @param msisdn Digits. */
export type NumberName = (msisdn: string) => string;

export const createNumberNames = (serviceKey: Uint8Array): NumberName => {
  const key = deriveKey(serviceKey, 'paraph phone audit');
  return (msisdn) =>
    `number-${createHmac('sha256', key).update(msisdn).digest('base64url').slice(0, 16)}`;
};
