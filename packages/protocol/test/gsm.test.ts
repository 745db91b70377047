import { describe, expect, it } from 'vitest';
import { dtbsLimit, isGsmText } from '../src/gsm.ts';

describe('GSM 03.38', () => {
  it('has the 127 characters of the default alphabet and the 10 of the extension table', () => {
    const characters = Array.from({ length: 0x1_0000 }, (_, code) =>
      String.fromCharCode(code),
    ).filter(isGsmText);
    expect(characters).toHaveLength(137);
    expect(characters.filter((character) => /[A-Za-z0-9]/.test(character))).toHaveLength(62);
  });

  it.each(['', 'Zürich: 100 € {ok}', 'ΔΦΓΛΩΠΨΣΘΞ', '\n\r\f', 'Ç'])(
    'allows 239 characters of %j',
    (text) => {
      expect(dtbsLimit(text)).toBe(239);
    },
  );

  it.each(['ç', 'Ω Ё', '😀', '`', '\t', '\u001b', '“quoted”', 'á', 'Š'])(
    'allows 119 characters of %j',
    (text) => {
      expect(dtbsLimit(text)).toBe(119);
    },
  );
});
