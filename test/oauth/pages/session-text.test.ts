import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dtbsLimit, isGsmText } from '../../../packages/protocol/src/gsm.ts';
import { pageLanguages } from '../../../src/http/pages/languages.ts';
import { codeText, fillLoginText, loginTextFor } from '../../../src/oauth/pages/session-text.ts';

const values = { client: 'Shop', session: 'K7XW', number: '42' };

describe('the text on the phone', () => {
  it('names the client, the code and the number, each on its line', () => {
    expect(fillLoginText(loginTextFor('en'), values)).toBe(
      'Log in to Shop?\nCode: K7XW\nNumber: 42',
    );
  });

  it('leaves the line of the number out where there is none', () => {
    expect(fillLoginText(loginTextFor('de'), { ...values, number: undefined })).toBe(
      'Bei Shop anmelden?\nCode: K7XW',
    );
    expect(fillLoginText('#CLIENT# #SESSION# #NUMBER#', { ...values, number: undefined })).toBe(
      'Shop K7XW',
    );
  });

  it('leaves the line of the code out where there is none', () => {
    const none = { ...values, session: '' };
    expect(fillLoginText(loginTextFor('it'), { ...none, number: undefined })).toBe(
      'Accedere a Shop?',
    );
    expect(fillLoginText(loginTextFor('en'), none)).toBe('Log in to Shop?\nNumber: 42');
    expect(fillLoginText('#CLIENT#: #SESSION#', { ...none, number: undefined })).toBe('Shop');
    expect(fillLoginText('Yes to #SESSION#?', { ...none, number: undefined })).toBe('Yes to?');
    expect(fillLoginText('#SESSION#', { ...none, number: undefined })).toBe('Shop');
  });

  it('puts the number at the end of a text that has no place for it', () => {
    expect(fillLoginText('Pay at #CLIENT#', values)).toBe('Pay at Shop (42)');
  });

  it('prefers the first text that the language has', () => {
    expect(loginTextFor('fr', { en: 'a' }, { fr: 'b' })).toBe('b');
    expect(loginTextFor('fr', { fr: 'a' }, { fr: 'b' })).toBe('a');
    expect(loginTextFor('it', { fr: 'a' }, {})).toContain('Accedere');
  });

  it('takes what looks like a placeholder in a name for what it is', () => {
    expect(
      fillLoginText('#CLIENT#: #SESSION#', {
        ...values,
        client: '$& #SESSION#',
        number: undefined,
      }),
    ).toBe('$& #SESSION#: K7XW');
  });

  it.each(pageLanguages.map((language) => [language]))(
    'needs no foreign letter in %s',
    (language) => {
      expect(isGsmText(fillLoginText(loginTextFor(language), values))).toBe(true);
      expect(isGsmText(codeText(language, { client: 'Shop', code: '123456' }))).toBe(true);
    },
  );

  it('shortens the name, and nothing but the name, until a phone can show the text', () => {
    const name = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 400 }),
      fc.string({ maxLength: 400 }),
    );
    fc.assert(
      fc.property(name, fc.constantFrom(...pageLanguages), (client, language) => {
        for (const text of [
          fillLoginText(loginTextFor(language), { ...values, client }),
          codeText(language, { client, code: 'K7XW' }),
        ]) {
          expect(text.length).toBeLessThanOrEqual(dtbsLimit(text));
          expect(text).toContain('K7XW');
          expect(text.isWellFormed?.() ?? true).toBe(true);
        }
      }),
    );
  });

  it('keeps as much of a long name as there is room for', () => {
    const text = fillLoginText('#CLIENT#: #SESSION#', {
      ...values,
      client: 'x'.repeat(300),
      number: undefined,
    });
    expect(text).toHaveLength(239);
    expect(text).toMatch(/^x+\.\.\.: K7XW$/);
  });

  it('leaves a text alone that is too long by itself', () => {
    const text = 'y'.repeat(300);
    expect(fillLoginText(text, { ...values, number: undefined })).toBe(text);
  });
});
