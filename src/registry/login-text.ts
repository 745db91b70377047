import { z } from 'zod';
import { dtbsLimit } from '../../packages/protocol/src/gsm.ts';
import { hasTags, tagWords } from '../../packages/protocol/src/tags.ts';
import { section } from './entry.ts';

/**
 * The text that the phone shows for a login. `#SESSION#` is required: it is the code that the page
 * shows, too, so that a person recognises the own login. A text that is too long for a phone is
 * refused here.
 */
const placeholders = ['#CLIENT#', '#SESSION#', '#NUMBER#'];
type Values = Readonly<Record<'CLIENT' | 'SESSION' | 'NUMBER', string>>;

/** Sample values, at least as long as the real ones. */
const samples = { SESSION: 'XXXX-XXXX', NUMBER: '00' };

const hasOnlyKnownPlaceholders = (text: string): boolean =>
  (text.match(/#[A-Za-z_]+#/g) ?? []).every((found) => placeholders.includes(found));

const text = z
  .string()
  .min(1)
  .max(239)
  .regex(/^[^\p{Cc}]*(?:\n[^\p{Cc}]*)*$/u, { error: 'must not contain control characters' })
  .refine((written) => !hasTags(written), { error: tagWords })
  .refine((written) => written.includes('#SESSION#'), {
    error: 'must contain #SESSION#, the code that the page shows, too',
  })
  .refine(hasOnlyKnownPlaceholders, {
    error: 'must have no other placeholders than #CLIENT#, #SESSION# and #NUMBER#',
  });

export const loginText = section({
  en: text.optional().describe('In English.'),
  de: text.optional().describe('In German.'),
  fr: text.optional().describe('In French.'),
  it: text.optional().describe('In Italian.'),
});

/** Fills a text in one pass, so that a placeholder within a value is not replaced. */
export const fillPlaceholders = (template: string, values: Values): string =>
  template.replaceAll(/#(CLIENT|SESSION|NUMBER)#/g, (_, name: keyof Values) => values[name]);

/** Languages whose text is too long for a phone with this client's name. */
export const languagesTooLong = (
  texts: Readonly<Record<string, string | undefined>>,
  client: string,
): readonly string[] =>
  Object.entries(texts).flatMap(([language, template = '']) => {
    const complete = template.includes('#NUMBER#') ? template : `${template} #NUMBER#`;
    const filled = fillPlaceholders(complete, { ...samples, CLIENT: client });
    return filled.length > dtbsLimit(filled) ? [language] : [];
  });

export const tooLong =
  'must fit the phone with its placeholders filled in: 239 characters, or 119 when one is outside of the GSM alphabet';
