/**
 * Parses a form strictly: what two parsers would read differently is refused.
 *
 * By hand, because a value that is given twice has to be noticed and most values need no decoding.
 *
 * Source: RFC 6749 section 3.1 (a parameter must not be sent more than once, one without a value counts as omitted).
 */
import { isUtf8 } from 'node:buffer';

/** Parameters by name. */
export type Parameters = ReadonlyMap<string, string>;

export type ParsedForm =
  | { readonly ok: true; readonly form: Parameters }
  | { readonly ok: false; readonly reason: 'formMalformed' }
  /** `name` is the caller's own text. */
  | { readonly ok: false; readonly reason: 'parameterRepeated'; readonly name: string };

/** May be sent more than once (RFC 8707); there is no use for it here. */
const repeatable = 'resource';

/** @throws URIError when it is not UTF-8. */
const decoded = (text: string): string => {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return spaced.includes('%') ? decodeURIComponent(spaced) : spaced;
};

const textOf = (body: Uint8Array): string | undefined =>
  isUtf8(body) ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString() : undefined;

export const parseForm = (body: Uint8Array): ParsedForm => {
  const text = textOf(body);
  if (text === undefined) return { ok: false, reason: 'formMalformed' };
  const form = new Map<string, string>();
  const valueless: string[] = [];
  try {
    for (const pair of text.split('&')) {
      const equals = pair.indexOf('=');
      const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
      if (name === '') continue;
      if (form.has(name) && name !== repeatable) return { ok: false, reason: 'parameterRepeated', name };
      const value = equals < 0 ? '' : decoded(pair.slice(equals + 1));
      form.set(name, value);
      if (value === '') valueless.push(name);
    }
  } catch {
    return { ok: false, reason: 'formMalformed' };
  }
  for (const name of valueless) form.delete(name);
  return { ok: true, form };
};

/** `application/x-www-form-urlencoded`, in no other character set than UTF-8. */
export const isForm = (contentType: string | undefined): boolean => {
  if (contentType === 'application/x-www-form-urlencoded') return true;
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  return (
    type.trim() === 'application/x-www-form-urlencoded' &&
    parameters.every((text) => {
      const [name = '', value = ''] = text.split('=');
      return name.trim() !== 'charset' || value.trim().replaceAll('"', '') === 'utf-8';
    })
  );
};
