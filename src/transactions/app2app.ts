/**
 * The URI that opens the signing App from another app on the same phone: the prompt, when no push is sent.
 *
 * Token and user id are derived, not stored: a request that joins an open transaction gets the same URI.
 *
 * Source: interface section 2.2, App2App.
 */

import { Buffer } from 'node:buffer';
import { createHmac, hkdfSync } from 'node:crypto';

export interface App2App {
  authUri(redirectUri: string, msspTransId: string, msisdn: string): string;
}

/** A version 8 UUID (RFC 9562 5.8): the 122 free bits are ours to choose. */
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

export const createApp2App = (masterKey: Uint8Array, scheme: string): App2App => {
  const key = Buffer.from(hkdfSync('sha256', masterKey, '', 'paraph app2app', 32));
  const derive = (text: string): Buffer => createHmac('sha256', key).update(text).digest();
  return {
    authUri: (redirectUri, msspTransId, msisdn) => {
      const token = derive(`session:${msspTransId}`).toString('base64url');
      const userId = uuidOf(derive(`user:${msisdn}`));
      return `${scheme}://auth?mobile_auth_redirect_uri=${encodeURIComponent(redirectUri)}&session_token=${token}&user_id=${userId}`;
    },
  };
};
