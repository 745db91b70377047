/**
 * What the phone says of a document: its title, how many pages it has, and the code that the page on
 * which it is read shows, too. It fits a SIM with the text of the application: 239 characters of the
 * GSM alphabet, or 119 with others.
 */
import { dtbsLimit, isGsmText } from '../../../packages/protocol/src/gsm.ts';

/** Characters that are kept for it when the application has a text of its own. */
const reserved = { gsm: 100, other: 60 } as const;
/** A longer title says no more on the screen of a phone. */
const maxTitle = 120;

/** @param text Of the application. @returns How many characters the rest needs. */
export const roomFor = (text: string): number => (isGsmText(text) ? reserved.gsm : reserved.other);

const words = {
  en: {
    document: 'Document',
    pages: (count: number) => (count === 1 ? 'page' : 'pages'),
    code: 'code',
  },
  de: {
    document: 'Dokument',
    pages: (count: number) => (count === 1 ? 'Seite' : 'Seiten'),
    code: 'Code',
  },
  fr: {
    document: 'Document',
    pages: (count: number) => (count === 1 ? 'page' : 'pages'),
    code: 'code',
  },
  it: {
    document: 'Documento',
    pages: (count: number) => (count === 1 ? 'pagina' : 'pagine'),
    code: 'codice',
  },
} as const;

const wordsOf = (language: string | undefined) =>
  words[(language?.toLowerCase() ?? 'en') as keyof typeof words] ?? words.en;

/** Punctuation of word processors, which is not in the alphabet. */
const plain: Readonly<Record<string, string>> = {
  '"': "'",
  '“': "'",
  '”': "'",
  '„': "'",
  '«': "'",
  '»': "'",
  '‘': "'",
  '’': "'",
  '–': '-',
  '—': '-',
  '…': '...',
};

/** A character as the alphabet has it, if it has one like it. */
const likeGsm = (character: string): string => {
  const simple = plain[character] ?? character;
  if (isGsmText(simple)) return simple;
  const base = character.normalize('NFKD').replaceAll(/\p{M}/gu, '');
  return base !== '' && isGsmText(base) ? base : character;
};

/** In one line, without what no screen shows. */
const asShown = (title: string): string =>
  Array.from(
    title
      .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
      .replaceAll(/[\u{e0000}-\u{e0fff}]/gu, '')
      .trim(),
  )
    .map(likeGsm)
    .join('');

const shortened = (title: string, most: number): string => {
  if (title.length <= most) return title;
  // Not through the middle of a pair of UTF-16 units.
  const kept = title.slice(0, Math.max(most - 3, 0)).replace(/[\ud800-\udbff]$/, '');
  return `${kept.trimEnd()}...`;
};

/**
 * @param text Of the application; empty for none.
 * @param document As it was before the first signature.
 */
export const writeText = (
  text: string,
  { title, pages, code }: { readonly title: string; readonly pages: number; readonly code: string },
  language: string | undefined,
): string => {
  const said = wordsOf(language);
  const before = text === '' ? '' : `${text}\n`;
  const lineWith = (shown: string): string =>
    `${before}${said.document} "${shown}" (${pages} ${said.pages(pages)}), ${said.code} ${code}`;
  const room = (shown: string): number =>
    Math.min(dtbsLimit(lineWith(shown)) - lineWith('').length, maxTitle);
  const whole = asShown(title);
  // A text that is longer than the other alphabet allows stays readable, and the title does not.
  const fits = isGsmText(lineWith(whole)) || room(whole) >= Math.min(whole.length, 12);
  const shown = fits ? whole : whole.replaceAll(/[^\x20-\x7e]/g, '?');
  return lineWith(shortened(shown, room(shown)));
};
