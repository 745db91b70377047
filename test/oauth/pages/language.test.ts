import { describe, expect, it } from 'vitest';
import { chooseLanguage } from '../../../src/http/pages/language.ts';
import { wordsOf } from '../../../src/oauth/pages/page.ts';

describe('the language of the pages', () => {
  it.each([
    ['fr', 'de-CH', 'fr'],
    ['de-CH fr', undefined, 'de'],
    ['rm it-CH', 'en', 'it'],
    ['pt ja', 'fr;q=0.5', 'fr'],
    ['', 'it', 'it'],
    [undefined, 'fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5', 'fr'],
    [undefined, 'en;q=0.3,de;q=0.9', 'de'],
    [undefined, 'pt, it;q=0.1', 'it'],
    [undefined, 'de;q=0, fr;q=0.2', 'fr'],
    [undefined, 'de;q=banana, it;q=0.001', 'it'],
    [undefined, 'DE', 'de'],
    [undefined, 'deutsch', 'en'],
    [undefined, '*', 'en'],
    [undefined, '', 'en'],
    [undefined, undefined, 'en'],
    [' \t', ';;;,,,q=1', 'en'],
  ] as const)(
    'takes from ui_locales %j and Accept-Language %j: %s',
    (uiLocales, header, language) => {
      expect(chooseLanguage(uiLocales, header)).toBe(language);
    },
  );

  it('does not read on for ever', () => {
    expect(chooseLanguage(undefined, `${'pt,'.repeat(100_000)}de`)).toBe('en');
  });
});

describe('messages', () => {
  it.each(['en', 'de', 'fr', 'it'] as const)(
    'in %s say in three lines what it is, what happened and what to do',
    (language) => {
      const { notices, failed } = wordsOf(language);
      for (const [cause, message] of Object.entries({ ...notices, ...failed.causes })) {
        const lines = message.split('\n').filter((line) => line.trim() !== '');
        expect([cause, lines.length, message.split('\n').length]).toEqual([cause, 3, 3]);
      }
    },
  );
});
