/**
 * Passkeys of this device as the gate in front of the key. Browsers without the JSON methods of
 * WebAuthn Level 3 are offered the PIN alone.
 */

import { publicHost } from './page.js';

/**
 * A passkey belongs to the name of a host, never to its address, and the service expects its own.
 */
const hasName = () =>
  window.location.host === publicHost && !/^[\d.]+$|:/.test(window.location.hostname);

export const hasPasskeys = async () =>
  hasName() &&
  typeof PublicKeyCredential === 'function' &&
  typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function' &&
  (await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable());

/**
 * @param {Promise<Credential | null>} asked
 * @returns {Promise<object | undefined>} What the service verifies; undefined when the device
 * refuses.
 */
const answerOf = async (asked) => {
  try {
    return /** @type {PublicKeyCredential | null} */ (await asked)?.toJSON();
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
};

/** @param {PublicKeyCredentialCreationOptionsJSON} options */
export const createPasskey = (options) =>
  answerOf(
    navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
    }),
  );

/** @param {PublicKeyCredentialRequestOptionsJSON} options */
export const usePasskey = (options) =>
  answerOf(
    navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
    }),
  );
