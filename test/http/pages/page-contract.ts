/** What holds for every page in every state and language; how they look is seen in a browser. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PageFrame } from '../../../src/http/pages/assets.ts';
import { type PageLanguage, pageLanguages } from '../../../src/http/pages/languages.ts';

export const frameOf = (language: PageLanguage, own: Partial<PageFrame> = {}): PageFrame => ({
  language,
  tenantName: 'Canton of Example',
  branding: { color: '#1f5fbf', logoSvg: undefined },
  path: '/oidc',
  clientName: 'Example Shop',
  ...own,
});

export const count = (page: string, pattern: RegExp): number => [...page.matchAll(pattern)].length;

export const hostileTexts = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.constantFrom(
    '</title><script>alert(1)</script>',
    '"><script src=//e>',
    "' onload='x",
    '<svg/onload=x>',
  ),
  fc.string().map((text) => `<script>${text}</script>`),
);

/** The elements of a page and the names of their attributes. */
export const skeleton = (page: string): string =>
  [...page.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replaceAll(/"[^"]*"/g, '""')).join('');

/** Every state that a page can be in, by a name. */
export type EveryPage = ReadonlyMap<string, (frame: PageFrame) => string>;

export const holdPages = (everyPage: EveryPage): void => {
  const pagesIn = (language: PageLanguage) =>
    [...everyPage].map(([name, shown]) => ({ name, page: shown(frameOf(language)) }));

  describe.each(pageLanguages.map((language) => ({ language })))(
    'every page in $language',
    ({ language }) => {
      it('has a language, a title, one main heading and its landmarks', () => {
        for (const { name, page } of pagesIn(language)) {
          expect(page, name).toMatch(new RegExp(`^<!doctype html>\n<html lang="${language}">`));
          expect(page, name).toMatch(/<title>[^<]+ · Canton of Example<\/title>/);
          for (const tag of ['h1', 'header', 'main', 'footer']) {
            expect(count(page, new RegExp(`<${tag}[ >]`, 'g')), `${tag} of ${name}`).toBe(1);
          }
        }
      });

      it('holds no script, style, handler or address but those of the tenant', () => {
        for (const { name, page } of pagesIn(language)) {
          expect(page, name).not.toMatch(
            /<style|\sstyle=|\son[a-z]+=|javascript:|https?:|(?:src|href)="(?!\/oidc\/|#)/i,
          );
          for (const [script] of page.matchAll(/<script[^>]*>[^<]*/g)) {
            expect(script, name).toMatch(
              /^<script src="\/oidc\/assets\/login\.js\?v=[\w-]{12}" defer>$/,
            );
          }
        }
      });

      it('has filled in everything', () => {
        for (const { name, page } of pagesIn(language)) {
          expect(page, name).not.toMatch(
            /undefined|\[object|NaN|<(h1|h2|p|dt|dd|label|legend|button|a)(?: [^>]*)?>\s*<\/\1>|ß/,
          );
        }
      });

      it('gives every field a label, every description a text and every form its token', () => {
        for (const { name, page } of pagesIn(language)) {
          const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
          expect(new Set(ids).size, name).toBe(ids.length);
          for (const [input] of page.matchAll(/<(?:input(?![^>]*type="hidden")|textarea)[^>]*>/g)) {
            expect(page, name).toContain(`<label for="${/ id="([^"]+)"/.exec(input)?.[1]}">`);
          }
          for (const [, named = ''] of page.matchAll(
            / aria-(?:describedby|labelledby)="([^"]+)"/g,
          )) {
            for (const id of named.split(' ')) expect(ids, name).toContain(id);
          }
          for (const [, target] of page.matchAll(/ href="#([^"]+)"/g))
            expect(ids, name).toContain(target);
          expect(count(page, /<form[ >]/g), name).toBe(count(page, /name="(?:csrf|xsrf)"/g));
        }
      });
    },
  );

  it('every page says something of its own in each language', () => {
    for (const [name, render] of everyPage) {
      const texts = pageLanguages.map((language) =>
        render(frameOf(language)).replace(/<html lang="..">/, ''),
      );
      expect(new Set(texts).size, name).toBe(pageLanguages.length);
    }
  });
};
