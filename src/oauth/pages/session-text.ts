/**
 * What the phone shows for a login. A line without its value (no number to match, no code to
 * compare) is left out. A number without a place in the text is added at the end.
 */

import { dtbsLimit } from '../../../packages/protocol/src/gsm.ts';
import type { PageLanguage } from '../../http/pages/languages.ts';
import { fillPlaceholders } from '../../registry/login-text.ts';
import type { LoginText } from '../../registry/oauth-client.ts';

/** Within the GSM alphabet, which has no ç and no ellipsis, so that a SIM shows twice as much. */
const defaultLoginText: Readonly<Record<PageLanguage, string>> = {
  en: 'Log in to #CLIENT#?\nCode: #SESSION#\nNumber: #NUMBER#',
  de: 'Bei #CLIENT# anmelden?\nCode: #SESSION#\nZahl: #NUMBER#',
  fr: 'Se connecter à #CLIENT# ?\nCode: #SESSION#\nNombre: #NUMBER#',
  it: 'Accedere a #CLIENT#?\nCodice: #SESSION#\nNumero: #NUMBER#',
};

const codeTexts: Readonly<Record<PageLanguage, string>> = {
  en: 'Your code to log in to #CLIENT#: #SESSION#\nDo not tell it to anybody.',
  de: 'Ihr Code für die Anmeldung bei #CLIENT#: #SESSION#\nGeben Sie ihn niemandem weiter.',
  fr: 'Votre code pour vous connecter à #CLIENT#: #SESSION#\nNe le communiquez à personne.',
  it: 'Il suo codice per accedere a #CLIENT#: #SESSION#\nNon lo comunichi a nessuno.',
};

/** The client's text, else the tenant's, else ours. */
export const loginTextFor = (language: PageLanguage, ...texts: readonly LoginText[]): string =>
  texts.map((text) => text[language]).find((text) => text !== undefined) ??
  defaultLoginText[language];

export interface LoginTextValues {
  readonly client: string;
  /** Empty when only the phone would show it. */
  readonly session: string;
  readonly number: string | undefined;
}

type Placeholder = '#CLIENT#' | '#SESSION#' | '#NUMBER#';

/** A line with other content loses only the placeholder and the colon before it. */
const without = (template: string, absent: readonly Placeholder[]): string => {
  const present = (['#CLIENT#', '#SESSION#', '#NUMBER#'] as const).filter(
    (each) => !absent.includes(each),
  );
  const has = (line: string, placeholders: readonly Placeholder[]): boolean =>
    placeholders.some((each) => line.includes(each));
  if (!has(template, absent)) return template;
  const lines = template.split('\n');
  const rest = lines.filter((line) => !has(line, absent) || has(line, present));
  const text = (rest.length > 0 ? rest : lines)
    .map((line) =>
      absent.reduce((kept, each) => kept.replaceAll(new RegExp(`[\\s:]*${each}`, 'g'), ''), line),
    )
    .join('\n');
  // A phone must show something.
  return text.trim() === '' ? '#CLIENT#' : text;
};

const complete = (template: string, { session, number }: LoginTextValues): string => {
  const placed =
    number === undefined || template.includes('#NUMBER#') ? template : `${template} (#NUMBER#)`;
  return without(placed, [
    ...(session === '' ? ['#SESSION#' as const] : []),
    ...(number === undefined ? ['#NUMBER#' as const] : []),
  ]);
};

const fits = (text: string): boolean => text.length <= dtbsLimit(text);

/**
 * Fills a template in, and shortens the client's name when the text is too long for a phone. The
 * result is still too long when the template is: no part of what the person agrees to is left out.
 */
export const fillLoginText = (template: string, values: LoginTextValues): string => {
  const { client, session, number } = values;
  const chosen = complete(template, values);
  const textWith = (name: string): string =>
    fillPlaceholders(chosen, { CLIENT: name, SESSION: session, NUMBER: number ?? '' });
  const text = textWith(client);
  if (fits(text) || !chosen.includes('#CLIENT#')) return text;
  const letters = [...client];
  for (let kept = letters.length - 1; kept > 0; kept -= 1) {
    // Three full stops, because the alphabet of a SIM has no ellipsis.
    const shorter = textWith(`${letters.slice(0, kept).join('').trimEnd()}...`);
    if (fits(shorter)) return shorter;
  }
  return textWith('');
};

/** The text message with a one-time password. */
export const codeText = (
  language: PageLanguage,
  { client, code }: { readonly client: string; readonly code: string },
): string => fillLoginText(codeTexts[language], { client, session: code, number: undefined });
