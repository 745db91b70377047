/**
 * Clients keep numbers as people have typed them; what is meant is understood, and what is not gets
 * a reason of its own.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLoginHint } from '../../src/oauth/login-hint.ts';

const hintsOf = (...msisdns: unknown[]): string =>
  JSON.stringify({ hints: msisdns.map((msisdn) => ({ msisdn })) });

describe('a login hint', () => {
  it('names numbers, one of them the default, and says whether others may be typed', () => {
    const text =
      '{"enableManualInput":true,"hints":[{"msisdn":"+41790000001"},{"msisdn":"+41790000002","default":true}]}';
    expect(parseLoginHint(text)).toEqual({
      ok: true,
      enableManualInput: true,
      hints: [
        { msisdn: '41790000001', default: false },
        { msisdn: '41790000002', default: true },
      ],
    });
  });

  it.each([
    '+41790000001',
    '41790000001',
    '0041790000001',
    '+41 79 000 00 01',
    '+41-79-000-00-01',
    ' 41790000001',
  ])('may be the number %s by itself or in a hint', (number) => {
    const [bare, inJson] = [parseLoginHint(number), parseLoginHint(hintsOf(number))];
    expect(bare).toEqual({
      ok: true,
      enableManualInput: false,
      hints: [{ msisdn: '41790000001', default: true }],
    });
    expect(inJson).toMatchObject({ ok: true, hints: [{ msisdn: '41790000001', default: false }] });
  });

  it.each([
    ['no hints', '{"hints":[]}', 'noHints'],
    ['no list of hints', '{"enableManualInput":true}', 'noHints'],
    ['a number that is too short', '+4179000', 'badMsisdn'],
    ['a number that is too long', '+4179000000123456', 'badMsisdn'],
    ['a national number', '0790000001', 'badMsisdn'],
    ['two prefixes', '+0041790000001', 'badMsisdn'],
    ['letters in a hint', hintsOf('+4179CALLME'), 'badMsisdn'],
    ['a hint without a number', '{"hints":[{}]}', 'badMsisdn'],
    ['a number that is no text', hintsOf(41790000001), 'badMsisdn'],
    [
      'one number in two spellings',
      hintsOf('+41790000001', '0041 79 000 00 01'),
      'duplicateMsisdn',
    ],
    ['a name', 'anna@example.com', 'badLoginHint'],
    ['broken JSON', '{"hints":[', 'badLoginHint'],
    ['JSON that is no object', '["+41790000001"]', 'badLoginHint'],
    ['a quoted number', '"+41790000001"', 'badLoginHint'],
    ['hints that are no list', '{"hints":{"msisdn":"+41790000001"}}', 'badLoginHint'],
    ['a hint that is no object', '{"hints":["+41790000001"]}', 'badLoginHint'],
    [
      'a default that is no boolean',
      '{"hints":[{"msisdn":"+41790000001","default":"yes"}]}',
      'badLoginHint',
    ],
    [
      'a switch that is no boolean',
      '{"enableManualInput":1,"hints":[{"msisdn":"+41790000001"}]}',
      'badLoginHint',
    ],
    [
      'more hints than a page can show',
      hintsOf(...Array.from({ length: 33 }, (_, n) => `+417900000${n + 10}`)),
      'badLoginHint',
    ],
  ])('with %s is refused', (_case, text, reason) => {
    expect(parseLoginHint(text)).toEqual({ ok: false, reason });
  });

  it('is either refused or names distinct numbers of 8 to 15 digits, whatever it is', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(fc.stringMatching(/^[+0-9 -]{0,18}$/)).map((numbers) => hintsOf(...numbers)),
    );
    fc.assert(
      fc.property(anything, (text) => {
        const hint = parseLoginHint(text);
        if (!hint.ok) return;
        const numbers = hint.hints.map(({ msisdn }) => msisdn);
        expect(new Set(numbers).size).toBe(numbers.length);
        for (const number of numbers) expect(number).toMatch(/^[1-9]\d{7,14}$/);
      }),
    );
  });
});
