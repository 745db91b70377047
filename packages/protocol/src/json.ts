/**
 * The strict reader of JSON bodies.
 *
 * `JSON.parse` silently takes the last of two members with one name. A checker and a signer that
 * read such a body differently would sign something unchecked, so it is refused (RFC 8259 section
 * 4). So are unpaired surrogates and NUL: they do not survive UTF-8, Redis or a certificate.
 *
 * For speed `JSON.parse` parses. Duplicates are found by counting: the text then has more member
 * names than the result.
 */
import { Buffer, isUtf8 } from 'node:buffer';
import { type Checked, ok, refuse } from './fault.ts';

/** Levels of a body. The objects of the wire have six. */
const maxDepth = 32;

/** Names that would reach prototypes when objects are merged carelessly. */
const dangerousNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

interface Survey {
  members: number;
  /** Whether to check strings. In valid UTF-8 only an escape can write a refused character. */
  readonly strings: boolean;
}

const findStringError = (text: string): string | undefined => {
  if (text.includes('\0')) return 'has a NUL character';
  return text.isWellFormed() ? undefined : 'has an unpaired surrogate';
};

/** @returns The error in a parsed value, in words for the detail of a fault. */
const survey = (value: unknown, depth: number, seen: Survey): string | undefined => {
  if (typeof value === 'string') return seen.strings ? findStringError(value) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
  if (Array.isArray(value)) {
    for (const item of value) {
      const error = survey(item, depth + 1, seen);
      if (error !== undefined) return error;
    }
    return undefined;
  }
  // By name, not by entries: an array for each member would be expensive.
  for (const name of Object.keys(value)) {
    seen.members += 1;
    if (dangerousNames.has(name)) return 'has a forbidden member name';
    const member = (value as Record<string, unknown>)[name];
    const error =
      (seen.strings ? findStringError(name) : undefined) ?? survey(member, depth + 1, seen);
    if (error !== undefined) return error;
  }
  return undefined;
};

const quote = '"';
const backslash = 0x5c;
const colon = 0x3a;
/** Space is the greatest white-space character; nothing structural is at or below it. */
const space = 0x20;

/** The end of a string: the first quote with an even number of backslashes before it. */
const endOfString = (text: string, from: number): number => {
  let end = text.indexOf(quote, from);
  for (;;) {
    let before = end - 1;
    while (before >= from && text.charCodeAt(before) === backslash) before -= 1;
    if ((end - before) % 2 === 1) return end;
    end = text.indexOf(quote, end + 1);
  }
};

/** Counts the member names in valid JSON: the strings that a colon follows. */
const writtenMembers = (text: string): number => {
  let count = 0;
  for (let start = text.indexOf(quote); start !== -1; ) {
    let next = endOfString(text, start + 1) + 1;
    while (text.charCodeAt(next) <= space) next += 1;
    if (text.charCodeAt(next) === colon) count += 1;
    start = text.indexOf(quote, next);
  }
  return count;
};

const byteOrderMark = '\u{FEFF}';

/** Decodes UTF-8 without a byte-order mark, which some clients send. Undefined for other bytes. */
const decode = (bytes: Uint8Array): string | undefined => {
  if (!isUtf8(bytes)) return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return text.startsWith(byteOrderMark) ? text.slice(1) : text;
};

const parse = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
};

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads one JSON object. The words of an error can follow the name of a member. */
export const readJsonObject = (
  text: string,
): { readonly object: object } | { readonly error: string } => {
  const parsed = parse(text);
  if (parsed === undefined) return { error: 'is not JSON' };
  if (!isObject(parsed.value)) return { error: 'is not a JSON object' };
  const seen: Survey = { members: 0, strings: text.includes('\\u') };
  const error = survey(parsed.value, 1, seen);
  if (error !== undefined) return { error };
  if (writtenMembers(text) !== seen.members) return { error: 'has two members of one name' };
  return { object: parsed.value };
};

/** Reads a body: one JSON object in UTF-8, else fault 101, whose detail quotes nothing of it. */
export const parseJson = (bytes: Uint8Array): Checked<unknown> => {
  const text = decode(bytes);
  if (text === undefined) return refuse(101, 'Body is not UTF-8');
  const read = readJsonObject(text);
  return 'object' in read ? ok(read.object) : refuse(101, `Body ${read.error}`);
};

/**
 * Finds the errors of {@link parseJson} in values from elsewhere, such as jobs of other programs.
 *
 * @returns The error in words; undefined when there is none.
 */
export const findJsonError = (value: unknown): string | undefined =>
  survey(value, 1, { members: 0, strings: true });
