/** Chooses the language of a page by the languages that a person reads. */
import { type PageLanguage, pageLanguages } from './languages.ts';

const fallback: PageLanguage = 'en';

/** More than any browser sends. */
const maxCharacters = 1000;

const known = (tag: string): PageLanguage | undefined => {
  const primary = tag.trim().toLowerCase().split(/[-_]/, 1)[0];
  return pageLanguages.find((language) => language === primary);
};

/** Weight of `de;q=0.8` (RFC 9110 12.4.2); a malformed one is 0. */
const weightOf = (parameters: readonly string[]): number => {
  const weight = parameters
    .map((text) => /^\s*q=(.*)$/i.exec(text)?.[1])
    .find((text) => text !== undefined);
  if (weight === undefined) return 1;
  return /^\s*(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*$/.test(weight) ? Number(weight) : 0;
};

const fromHeader = (header: string): PageLanguage | undefined =>
  header
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.split(';');
      return { language: known(tag), weight: weightOf(parameters) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .find(({ language }) => language !== undefined)?.language;

/**
 * The client's choice comes first, then the browser's. @param uiLocales OpenID Connect Core
 * 3.1.2.1.
 */
export const chooseLanguage = (
  uiLocales: string | undefined,
  acceptLanguage: string | undefined,
): PageLanguage =>
  (uiLocales ?? '')
    .slice(0, maxCharacters)
    .split(/\s+/)
    .map(known)
    .find((language) => language !== undefined) ??
  fromHeader((acceptLanguage ?? '').slice(0, maxCharacters)) ??
  fallback;
