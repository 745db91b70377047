/** Bytes as text, and the few values of DER that a phone writes and reads. Source: X.690. */

/** @param {readonly (Uint8Array | readonly number[])[]} parts */
export const joined = (parts) => {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

/** @param {ArrayBuffer | Uint8Array} bytes */
const binary = (bytes) => String.fromCharCode(...new Uint8Array(bytes));

/** @param {ArrayBuffer | Uint8Array} bytes Some kilobytes at most. */
export const toBase64 = (bytes) => btoa(binary(bytes));

/** @param {ArrayBuffer | Uint8Array} bytes */
export const toBase64Url = (bytes) =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

/** @param {string} text Base64 or base64url, with or without padding. */
export const fromBase64 = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (each) =>
    each.charCodeAt(0),
  );

/** @param {ArrayBuffer} one @param {Uint8Array} other */
export const areEqual = (one, other) => toBase64(one) === toBase64(other);

/** One value. @param {number} tag @param {readonly (Uint8Array | readonly number[])[]} parts */
export const der = (tag, ...parts) => {
  const content = joined(parts);
  const { length } = content;
  const octets =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return joined([[tag, ...octets], content]);
};

/** An INTEGER that is not negative. @param {Uint8Array} bytes Big-endian. */
const integer = (bytes) => {
  const first = bytes.findIndex((byte) => byte !== 0);
  const short = first < 0 ? Uint8Array.of(0) : bytes.subarray(first);
  return der(0x02, (short[0] ?? 0) < 0x80 ? [] : [0], short);
};

/**
 * An ECDSA signature as X.509 writes it (RFC 5480).
 * @param {Uint8Array} raw r and s, 32 bytes each.
 */
export const ecdsaSignature = (raw) =>
  der(0x30, integer(raw.subarray(0, 32)), integer(raw.subarray(32)));

/**
 * The values that stand one after the other.
 *
 * @param {Uint8Array} bytes
 * @returns {readonly { readonly tag: number, readonly content: Uint8Array }[]}
 * @throws RangeError When a length leads beyond the end.
 */
export const readDer = (bytes) => {
  const values = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    let length = bytes[at + 1] ?? 0;
    at += 2;
    if (length >= 0x80) {
      const octets = length & 0x7f;
      if (octets > 2) throw new RangeError('a value is too long');
      length = bytes.subarray(at, at + octets).reduce((sum, octet) => sum * 256 + octet, 0);
      at += octets;
    }
    if (at + length > bytes.length) throw new RangeError('a value is cut off');
    values.push({ tag, content: bytes.subarray(at, at + length) });
    at += length;
  }
  return values;
};
