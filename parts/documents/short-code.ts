/**
 * The short code of a document: what the phone shows, and what the page on which it is read shows
 * too, so that a person can compare them. The first 60 bits of the SHA-256 in Crockford's base32,
 * which has no letters that look alike: `K7QX-29FM-H3TW`.
 *
 * It is for people. The service compares the whole hash.
 */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const length = 12;

/** @param sha256 Hexadecimal. */
export const shortCodeOf = (sha256: string): string => {
  const bits = BigInt(`0x${sha256.slice(0, 16)}`) >> 4n;
  const characters = Array.from(
    { length },
    (_, index) => alphabet[Number((bits >> BigInt(5 * (length - 1 - index))) & 31n)],
  );
  return characters.join('').replaceAll(/.{4}(?=.)/g, '$&-');
};
