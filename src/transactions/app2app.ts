/**
 * The URI that opens the signing App from another app on the same phone, instead of a push message.
 * Token and user id are derived and not stored, so an equal request gets the same URI.
 *
 * Source: interface section 2.2, App2App.
 */
import { createHmac } from 'node:crypto';
import { deriveKey } from '../../packages/pki/src/sealed-json.ts';

export type App2App = ReturnType<typeof createApp2App>;

/** A version 8 UUID (RFC 9562 5.8), whose 122 free bits come from the given bytes. */
const uuidOf = (bytes: Buffer): string => {
  const hex = bytes.subarray(0, 16).toString('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-');
};

export const createApp2App = (serviceKey: Uint8Array, scheme: string) => {
  const key = deriveKey(serviceKey, 'paraph app2app');
  const derive = (text: string): Buffer => createHmac('sha256', key).update(text).digest();
  return {
    authUri: (redirectUri: string, msspTransId: string, msisdn: string): string => {
      const token = derive(`session:${msspTransId}`).toString('base64url');
      const userId = uuidOf(derive(`user:${msisdn}`));
      return `${scheme}://auth?mobile_auth_redirect_uri=${encodeURIComponent(redirectUri)}&session_token=${token}&user_id=${userId}`;
    },
  };
};
