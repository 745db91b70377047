/**
 * The key of this phone: P-256, made in the browser, and never readable outside of it.
 *
 * Under a PIN the key is stored encrypted only. Half of what is derived from the PIN and a share of
 * the service decrypt it together. So a copy of the browser's storage is of no use for guessing
 * PINs: each guess must ask the service, which counts. The service gets the other half, which is of
 * no use for decrypting. Under a passkey the browser keeps the key as one that cannot be exported.
 *
 * Sources: RFC 2986 (PKCS #10), RFC 5652 5.4, RFC 5758 3.2, W3C Web Cryptography.
 */
import {
  areEqual,
  der,
  ecdsaSignature,
  fromBase64,
  joined,
  readDer,
  toBase64Url,
} from './bytes.js';

/** @typedef {{ readonly iv: Uint8Array, readonly bytes: Uint8Array }} WrappedKey */

const { subtle } = crypto;
const curve = { name: 'ECDSA', namedCurve: 'P-256' };
const scheme = { name: 'ECDSA', hash: 'SHA-256' };
/** OWASP's number for PBKDF2-HMAC-SHA-256. */
const iterations = 600_000;
const ecdsaWithSha256 = der(0x30, [0x06, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]);
const contentType = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 3];
const messageDigest = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 4];
const data = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 1];
const none = new Uint8Array();

/** @param {string} text */
const utf8 = (text) => new TextEncoder().encode(text);

export const newSalt = () => crypto.getRandomValues(new Uint8Array(16));

/** @param {boolean} extractable So that it can be wrapped; see {@link wrapKey}. */
export const newKeyPair = (extractable) =>
  subtle.generateKey(curve, extractable, ['sign', 'verify']);

/** A certificate request. The service knows the subject. @param {CryptoKeyPair} pair */
export const createRequest = async ({ publicKey, privateKey }) => {
  const version = [0x02, 1, 0];
  const noAttributes = [0xa0, 0];
  const spki = new Uint8Array(await subtle.exportKey('spki', publicKey));
  const info = der(0x30, version, der(0x30), spki, noAttributes);
  const signature = ecdsaSignature(new Uint8Array(await subtle.sign(scheme, privateKey, info)));
  return der(0x30, info, ecdsaWithSha256, der(0x03, [0], signature));
};

/**
 * @param {Uint8Array} secret
 * @param {Uint8Array} salt
 * @param {string} purpose
 * @param {AesKeyGenParams | HmacImportParams & { length: number }} made
 * @param {readonly KeyUsage[]} usages
 */
const derive = async (secret, salt, purpose, made, usages) => {
  const from = await subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey']);
  const how = { name: 'HKDF', hash: 'SHA-256', salt, info: utf8(purpose) };
  return subtle.deriveKey(how, from, made, false, [...usages]);
};

/**
 * Proves that the request and its gate come from whoever has the link.
 *
 * @param {string} secret
 * @param {Uint8Array} request
 * @param {readonly string[]} gate All of it that counts.
 */
export const activationMac = async (secret, request, gate) => {
  const made = { name: 'HMAC', hash: 'SHA-256', length: 256 };
  const key = await derive(fromBase64(secret), none, 'paraph phone activation', made, ['sign']);
  return toBase64Url(await subtle.sign('HMAC', key, joined([request, utf8(gate.join(' '))])));
};

/** @param {string} pin @param {Uint8Array} salt */
export const fromPin = async (pin, salt) => {
  const from = await subtle.importKey('raw', utf8(pin), 'PBKDF2', false, ['deriveBits']);
  const how = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations };
  const bytes = new Uint8Array(await subtle.deriveBits(how, from, 512));
  return { half: bytes.slice(0, 32), verifier: toBase64Url(bytes.subarray(32)) };
};

const aes = { name: 'AES-GCM', length: 256 };

/**
 * @param {Uint8Array} half Of the PIN; see {@link fromPin}.
 * @param {string} share Of the service.
 */
export const pinWrapper = (half, share) =>
  derive(half, fromBase64(share), 'paraph phone key', aes, ['wrapKey', 'unwrapKey']);

/** @param {string} code As the person writes it. */
export const recoveryWrapper = (code) =>
  derive(
    utf8(code.toUpperCase().replaceAll(/[^0-9A-Z]/g, '')),
    none,
    'paraph phone recovery',
    aes,
    ['wrapKey', 'unwrapKey'],
  );

/** @param {CryptoKey} key @param {CryptoKey} wrapper @returns {Promise<WrappedKey>} */
export const wrapKey = async (key, wrapper) => {
  const iv = crypto.getRandomValues(new Uint8Array(12));
  return {
    iv,
    bytes: new Uint8Array(await subtle.wrapKey('pkcs8', key, wrapper, { name: 'AES-GCM', iv })),
  };
};

/**
 * @param {WrappedKey} wrapped
 * @param {CryptoKey} wrapper
 * @param {boolean} [extractable] Only to be wrapped again.
 * @throws When it was wrapped under something else.
 */
export const unwrapKey = ({ iv, bytes }, wrapper, extractable = false) =>
  subtle.unwrapKey('pkcs8', bytes, wrapper, { name: 'AES-GCM', iv }, curve, extractable, ['sign']);

/**
 * The content that is signed, as the service makes it.
 * @param {{ text: string, dtbd?: string }} prompt
 */
const contentOf = ({ text, dtbd }) =>
  utf8(dtbd === undefined ? text : JSON.stringify({ format_version: 1, content_string: dtbd }));

/**
 * Whether these are the signed attributes of a CMS signature over what the prompt shows. They hold
 * the content's type and its digest once, and a nonce.
 *
 * @param {{ text: string, dtbd?: string, toBeSigned: string }} prompt
 */
export const isAboutText = async (prompt) => {
  const digest = await subtle.digest('SHA-256', contentOf(prompt));
  try {
    const [set, ...more] = readDer(fromBase64(prompt.toBeSigned));
    if (set?.tag !== 0x31 || more.length > 0) return false;
    const attributes = readDer(set.content).map(({ tag, content }) => {
      const [type, values, ...others] = readDer(content);
      const [value, ...further] = readDer(values?.content ?? none);
      const isAttribute = tag === 0x30 && type?.tag === 0x06 && values?.tag === 0x31;
      if (!isAttribute || value === undefined || others.length + further.length > 0)
        throw new RangeError();
      return { type: type.content, value };
    });
    /** @param {readonly number[]} wanted */
    const valuesOf = (wanted) =>
      attributes
        .filter(({ type }) => String(type) === String(wanted))
        .map(({ value: { tag, content } }) => joined([[tag], content]));
    const [types, digests] = [valuesOf(contentType), valuesOf(messageDigest)];
    return (
      attributes.length === 3 &&
      types.length === 1 &&
      digests.length === 1 &&
      areEqual(joined([[0x06], data]), types[0] ?? none) &&
      areEqual(joined([[0x04], new Uint8Array(digest)]), digests[0] ?? none)
    );
  } catch {
    return false;
  }
};

/** @param {CryptoKey} key @param {string} toBeSigned Base64. @returns r and s, base64url. */
export const sign = async (key, toBeSigned) =>
  toBase64Url(await subtle.sign(scheme, key, fromBase64(toBeSigned)));
