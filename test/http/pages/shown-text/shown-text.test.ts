/** How a text that somebody else has written is shown, so that what is seen is what is signed. */
import { describe, expect, it } from 'vitest';
import { shownText } from '../../../../src/http/pages/shown-text/shown-text.js';

/** Without the 900 000 that nobody has a use for, and ideographs. */
const everyCharacter = Array.from({ length: 0x11_0000 }, (_, code) =>
  String.fromCodePoint(code),
).filter((each) =>
  /\p{Default_Ignorable_Code_Point}|[^\p{Cn}\p{Co}\p{Cs}\p{Script=Han}\p{Script=Hangul}]/u.test(
    each,
  ),
);
const nameOf = (character: string): string =>
  `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;
const withoutIsolates = (shown: string): string => shown.replaceAll(/[\u2066-\u2069]/g, '');

describe('a shown text', () => {
  it('has every character by its name that nobody sees, but the newline', () => {
    const unseen = everyCharacter.filter((each) =>
      /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/u.test(each),
    );
    expect(unseen.length).toBeGreaterThan(4000);
    const wrong = unseen.filter(
      (each) => withoutIsolates(shownText(`a${each}b`)) !== `a${nameOf(each)}b` && each !== '\n',
    );
    expect(wrong.map(nameOf)).toEqual([]);
    expect(shownText('a\nb')).toBe('a\nb');
  });

  it('has letters, digits, signs and spaces as they are', () => {
    const text = 'Zürich, ¿Qué? – “CHF 1\u2019000.–” №7 日本語 한국어 ไทย 👍 ½ ① ²';
    expect(shownText(text)).toBe(text);
  });

  it.each([
    ['U+0300', '\u0300'],
    ['U+0337', '\u0337'],
    ['U+20D2', '\u20d2'],
    ['U+0E37 of Thai', '\u0e37'],
    ['U+093E of Devanagari', '\u093e'],
  ])('names a mark on a digit, on a sign and at the beginning: %s', (_, each) => {
    const name = nameOf(each);
    for (const base of ['9', '\u0669', '.', ' ', '€', '']) {
      expect(withoutIsolates(shownText(`${base}${each}0`))).toBe(`${base}${name}0`);
    }
  });

  it('names marks that strike out or enclose, also on letters', () => {
    const struck = everyCharacter.filter((each) =>
      /\p{Me}|[\u0334-\u0338]|[\u20d2-\u20d3]|[\u20d8-\u20da]|[\u20e5-\u20e6]|[\u20ea-\u20eb]/u.test(
        each,
      ),
    );
    for (const each of struck) expect(shownText(`not${each}`)).toBe(`not${nameOf(each)}`);
  });

  it.each([
    ['Vietnamese', 'Việt Nam: tôi đồng ý trả tiền thuế'.normalize('NFD')],
    ['Thai', 'ฉันตกลงที่จะจ่ายเงินให้ผู้รับ'],
    ['Devanagari', 'मैं ज़्यादा क्ष्रि सहमत हूँ'],
    ['Greek with accents', 'ᾆσμα τῷ ἀνθρώπῳ'.normalize('NFD')],
    ['Burmese', 'လျှို့ဝှက်မြို့'],
    ['Tibetan', 'བསྒྲུབས་པའི་ཧཱུྃ'],
    ['Korean', '한국어'.normalize('NFD')],
  ])('has %s as it is written', (_, text) => {
    expect(shownText(text)).toBe(text);
  });

  it.each([
    ['Hebrew with points and accents', 'בְּרֵאשִׁ֖ית בָּרָ֣א אֱלֹהִ֑ים שּֽׁׁ֣'],
    ['Arabic with vowels', 'بِسْمِ اللَّهِ الرَّحْمٰنِ'],
    ['Persian', 'موافقم'],
  ])('has %s as it is written, from right to left', (_, text) => {
    expect(shownText(text)).toBe(`\u2067${text}\u2069`);
  });

  it('has five marks on a letter, three of them of no script, and the others by their names', () => {
    expect(shownText('a\u0301\u0302\u0303\u0304b')).toBe('a\u0301\u0302\u0303[U+0304]b');
    expect(shownText(`\u1000${'\u102d'.repeat(7)}`)).toBe(
      `\u1000${'\u102d'.repeat(5)}[U+102D][U+102D]`,
    );
  });

  it('turns nothing: each run from right to left is apart, and numbers keep their order', () => {
    expect(shownText('Pay א 1 ב 2 CHF')).toBe(
      '\u2066Pay \u2067א\u2069 \u20661\u2069 \u2067ב\u2069 \u20662\u2069 CHF\u2069',
    );
    expect(shownText('א 1 ב 2')).toBe(
      '\u2066\u2067א\u2069 \u20661\u2069 \u2067ב\u2069 \u20662\u2069\u2069',
    );
    expect(shownText('1\u05f3000')).toBe(
      '\u2066\u20661\u2069\u2067\u05f3\u2069\u2066000\u2069\u2069',
    );
    expect(shownText('١ ٢')).toBe('\u2066\u2066\u2066١\u2069 \u2066٢\u2069\u2069\u2069');
  });

  it.each([
    ['N’Ko', '\u07c1', '\u07c2'],
    ['Adlam', '\u{1e951}', '\u{1e952}'],
    ['Rumi', '\u{10e60}', '\u{10e61}'],
    ['Mende', '\u{1e8c7}', '\u{1e8c8}'],
    ['Hanifi', '\u{10d31}', '\u{10d32}'],
  ])(
    'keeps the order of two numbers of a script that runs from right to left: %s',
    (_, one, two) => {
      expect(shownText(`${one} ${two}`)).toBe(
        `\u2066\u2066\u2066${one}\u2069 \u2066${two}\u2069\u2069\u2069`,
      );
      expect(shownText(`Pay ${one}${two} CHF, not ${two}`)).toBe(
        `\u2066Pay \u2066\u2066${one}${two}\u2069\u2069 CHF, not \u2066\u2066${two}\u2069\u2069\u2069`,
      );
    },
  );

  it('runs from right to left when its letters do and it has one number', () => {
    expect(shownText('שלם 1’000.50 CHF לדוד')).toBe(
      '\u2067שלם \u20661’000.50\u2069 \u2066CHF\u2069 לדוד\u2069',
    );
    expect(shownText('שלום\n\nלדוד')).toBe('\u2067שלום\u2069\n\n\u2067לדוד\u2069');
  });

  it('ends each isolate on its line, whatever the text holds', () => {
    const countIn = (line: string, isolates: RegExp) => line.match(isolates)?.length ?? 0;
    const wrong = everyCharacter.filter((each) =>
      shownText(`א${each}1\nb`)
        .split('\n')
        .some((line) => countIn(line, /[\u2066\u2067]/g) !== countIn(line, /\u2069/g)),
    );
    expect(wrong.map(nameOf)).toEqual([]);
  });
});
