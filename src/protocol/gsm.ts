/**
 * How long a text on a phone may be.
 *
 * A SIM shows text from one string element of 240 bytes, the first of which names the coding: 239 characters in the
 * GSM alphabet, or 119 in UCS-2, where one foreign character puts the whole text.
 *
 * Characters are counted as UTF-16 units. That is how UCS-2 counts, so an emoji is two. A character of the extension
 * table is one, although the phone spends two bytes on it: the published rule speaks of characters and of the character
 * set, and a request within the published rule must not be refused.
 *
 * Source: 3GPP TS 23.038 section 6.2.1 (formerly GSM 03.38), TS 102 223 section 8.15.
 */

const basicTable =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const extensionTable = '\f^{}\\[~]|€';

// By code unit: a lookup here costs less than in a Set. The euro sign is the greatest.
const inAlphabet = new Uint8Array('€'.charCodeAt(0) + 1);
for (const character of basicTable + extensionTable) inAlphabet[character.charCodeAt(0)] = 1;

/** Whether all characters are in the GSM default alphabet or its extension. `ç` is not. */
export const isGsmText = (text: string): boolean => {
  for (let index = 0; index < text.length; index += 1) {
    if (inAlphabet[text.charCodeAt(index)] !== 1) return false;
  }
  return true;
};

/** The greatest `length` that this text may have: 239 in the GSM alphabet, else 119. */
export const dtbsLimit = (text: string): 239 | 119 => (isGsmText(text) ? 239 : 119);
