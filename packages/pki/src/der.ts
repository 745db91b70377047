/**
 * Writes DER: each function returns the finished bytes of one value, composed of the bytes of
 * others.
 *
 * A signature is a few dozen small values around one digest. An object tree for it would cost
 * twenty times what the P-256 signature costs, so there is none, and values that never change are
 * encoded once. What is written is always DER; what is read need not be (ber.ts).
 *
 * Source: ITU-T X.690 sections 8 and 10.
 */

/** Identifier octets, X.690 8.1.2; `context(n)` is constructed, `contextPrimitive(n)` is not. */
export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  printableString: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  constructedOctetString: 0x24,
  sequence: 0x30,
  set: 0x31,
  context: (number: number): number => 0xa0 | number,
  contextPrimitive: (number: number): number => 0x80 | number,
} as const;

const lengthOctets = (length: number): number =>
  length < 0x80 ? 1 : length < 0x100 ? 2 : length < 0x1_0000 ? 3 : length < 0x100_0000 ? 4 : 5;

/** One value: an identifier octet (see {@link tags}), the shortest length, and the parts. */
export const encode = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  let length = 0;
  for (const part of parts) length += part.length;
  const octets = lengthOctets(length);
  const bytes = Buffer.allocUnsafe(1 + octets + length);
  bytes[0] = tag;
  if (octets === 1) {
    bytes[1] = length;
  } else {
    bytes[1] = 0x80 | (octets - 1);
    bytes.writeUIntBE(length, 2, octets - 1);
  }
  let offset = 1 + octets;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
};

export const sequence = (...parts: readonly Uint8Array[]): Buffer =>
  encode(tags.sequence, ...parts);

/** SET OF, its members in ascending order of their encodings (X.690 11.6). */
export const setOf = (...members: readonly Uint8Array[]): Buffer =>
  encode(tags.set, ...members.toSorted(Buffer.compare));

export const boolean = (value: boolean): Buffer =>
  encode(tags.boolean, Buffer.of(value ? 0xff : 0));

/** @param value 0 to 127; larger numbers go through {@link integer}. */
export const smallInteger = (value: number): Buffer =>
  encode(tags.integer, Buffer.of(value & 0x7f));

/** @param bytes Two's complement, big-endian, in its shortest form. */
export const integer = (bytes: Uint8Array): Buffer => encode(tags.integer, bytes);

export const octetString = (bytes: Uint8Array): Buffer => encode(tags.octetString, bytes);

/** Whole octets, no unused bits: signatures and public keys. */
export const bitString = (bytes: Uint8Array): Buffer => encode(tags.bitString, Buffer.of(0), bytes);

/** A BIT STRING without trailing zero bits (X.690 11.2.2). @param bits Set positions. */
export const namedBits = (...bits: readonly number[]): Buffer => {
  const last = Math.max(...bits);
  const octets = Buffer.alloc(Math.floor(last / 8) + 1);
  for (const bit of bits) octets[bit >> 3] = (octets[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return encode(tags.bitString, Buffer.of(7 - (last & 7)), octets);
};

/** @param dotted `1.2.840…`, arcs below 2^28. */
export const objectIdentifier = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const octets = [first * 40 + second, ...rest].flatMap((arc) => {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift(0x80 | (left & 0x7f));
    return groups;
  });
  return encode(tags.objectIdentifier, Buffer.from(octets));
};

export const nullValue = (): Buffer => encode(tags.null);
export const utf8String = (text: string): Buffer =>
  encode(tags.utf8String, Buffer.from(text, 'utf8'));

/** @param text Only letters, digits, space and `'()+,-./:=?`. */
export const printableString = (text: string): Buffer =>
  encode(tags.printableString, Buffer.from(text, 'ascii'));

/** UTCTime until 2049, then GeneralizedTime (RFC 5280 4.1.2.5); milliseconds are dropped. */
export const time = (instant: Date): Buffer => {
  const digits = instant.toISOString().replace(/\.\d+Z$|[-:T]/g, '');
  return instant.getUTCFullYear() < 2050
    ? encode(tags.utcTime, Buffer.from(`${digits.slice(2)}Z`))
    : encode(tags.generalizedTime, Buffer.from(`${digits}Z`));
};

/** GeneralizedTime, also before 2050: outside of certificates (RFC 6960, RFC 3161). */
export const generalizedTime = (instant: Date): Buffer =>
  encode(
    tags.generalizedTime,
    Buffer.from(`${instant.toISOString().replace(/\.\d+Z$|[-:T]/g, '')}Z`),
  );

/** A whole number that is not negative. */
export const wholeNumber = (value: number | bigint): Buffer => {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return integer((bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([Buffer.of(0), bytes]));
};

/** @param bytes Big-endian, not negative. */
const unsigned = (bytes: Uint8Array): Buffer => {
  const first = bytes.findIndex((octet) => octet !== 0);
  const digits = first === -1 ? bytes.subarray(-1) : bytes.subarray(first);
  return integer((digits[0] ?? 0) < 0x80 ? digits : Buffer.concat([Buffer.of(0), digits]));
};

/** Ecdsa-Sig-Value (RFC 3279 2.2.3). @param signature r and s of P-256, 32 bytes each. */
export const ecdsaValue = (signature: Uint8Array): Buffer =>
  sequence(unsigned(signature.subarray(0, 32)), unsigned(signature.subarray(32)));

/** @param value 0 to 127. */
export const enumerated = (value: number): Buffer =>
  encode(tags.enumerated, Buffer.of(value & 0x7f));

/** `[number] EXPLICIT`, also `[number] IMPLICIT` over members that are encoded already. */
export const context = (number: number, ...parts: readonly Uint8Array[]): Buffer =>
  encode(tags.context(number), ...parts);
