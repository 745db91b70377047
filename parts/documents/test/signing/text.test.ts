import { describe, expect, it } from 'vitest';
import { dtbsLimit, isGsmText } from '../../../../packages/protocol/src/gsm.ts';
import { roomFor, writeText } from '../../signing/text.ts';

const document = { title: 'Contract 4711', pages: 12, code: 'K7QX-29FM-H3TW' };

describe('the text of a document on the phone', () => {
  it.each([
    ['en', 'Document "Contract 4711" (12 pages), code K7QX-29FM-H3TW'],
    ['de', 'Dokument "Contract 4711" (12 Seiten), Code K7QX-29FM-H3TW'],
    ['FR', 'Document "Contract 4711" (12 pages), code K7QX-29FM-H3TW'],
    ['it', 'Documento "Contract 4711" (12 pagine), codice K7QX-29FM-H3TW'],
    [undefined, 'Document "Contract 4711" (12 pages), code K7QX-29FM-H3TW'],
    ['xx', 'Document "Contract 4711" (12 pages), code K7QX-29FM-H3TW'],
  ])('names title, pages and code in %s', (language, expected) => {
    expect(writeText('', document, language)).toBe(expected);
  });

  it('stands below the text of the application, and has one page in the singular', () => {
    expect(writeText('I agree.', { ...document, pages: 1 }, 'de')).toBe(
      'I agree.\nDokument "Contract 4711" (1 Seite), Code K7QX-29FM-H3TW',
    );
  });

  it.each([
    ['Résumé “très long” – conçu…', "Résumé 'très long' - concu..."],
    ['Žádost o půjčku', 'Zadost o pujcku'],
    ['a\u202eb\u0000c\nd   e\u{e0041}', 'a b c d e'],
    ['Say "yes"', "Say 'yes'"],
  ])('writes the title %j for a SIM', (title, expected) => {
    const text = writeText('', { ...document, title }, 'en');
    expect(text).toContain(`"${expected}"`);
    expect(isGsmText(text)).toBe(true);
  });

  it.each([
    ['', 'Договор '.repeat(25)],
    ['', 'A'.repeat(400)],
    ['', '😀'.repeat(100)],
    ['x'.repeat(239 - roomFor('x')), 'Long title '.repeat(20)],
    ['x'.repeat(239 - roomFor('x')), 'Договор займа'],
    ['Договор'.repeat(8), 'Договор займа номер 4711 от 1 мая'],
    ['Договор', ''],
  ])('fits a SIM, with the code: text %j, title %j', (text, title) => {
    for (const language of ['en', 'de', 'fr', 'it']) {
      const pages = 2000;
      const written = writeText(text, { ...document, title, pages }, language);
      expect(written.length).toBeLessThanOrEqual(dtbsLimit(written));
      expect(written.startsWith(text)).toBe(true);
      expect(written.endsWith(document.code)).toBe(true);
      expect(written.isWellFormed()).toBe(true);
    }
  });
});
