/**
 * Bodies as bytes: the strict reader for what comes in, the canonical writer for what goes out.
 *
 * JSON leaves open what two members of one name mean, and `JSON.parse` silently takes the last. A checker and a
 * signer that disagree on such a body sign something that nobody checked, so it is refused (RFC 8259 section 4).
 * Unpaired surrogates and NUL go the same way: they do not survive UTF-8, Redis or a certificate unchanged.
 *
 * Speed comes from letting the engine parse. What its result cannot show is the duplicates; a text has one for each
 * member name that is written but does not exist in the result, and counting names needs no parser.
 */
import { Buffer, isUtf8 } from 'node:buffer';
import { type Checked, ok, refuse } from './fault.ts';

/** The wire's own objects are six deep. */
const deepest = 32;

/** Names through which a careless merge of two objects would reach their prototypes. */
const dangerousNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

interface Survey {
  members: number;
  /** Whether to check strings: in valid UTF-8 only an escape can write what is refused. */
  readonly strings: boolean;
}

const problemOfString = (text: string): string | undefined => {
  if (text.includes('\0')) return 'has a NUL character';
  return text.isWellFormed() ? undefined : 'has an unpaired surrogate';
};

/** Walks a parsed value once. @returns What is wrong with it, in the words of a fault's detail. */
const survey = (value: unknown, depth: number, seen: Survey): string | undefined => {
  if (typeof value === 'string') return seen.strings ? problemOfString(value) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > deepest) return `is nested deeper than ${deepest} levels`;
  if (Array.isArray(value)) {
    for (const item of value) {
      const problem = survey(item, depth + 1, seen);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  // By name, not by entries: an array for each member is a good part of what this costs.
  for (const name of Object.keys(value)) {
    seen.members += 1;
    if (dangerousNames.has(name)) return 'has a forbidden member name';
    const member = (value as Record<string, unknown>)[name];
    const problem = (seen.strings ? problemOfString(name) : undefined) ?? survey(member, depth + 1, seen);
    if (problem !== undefined) return problem;
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

/** Some clients send a byte-order mark; it says nothing that UTF-8 does not. */
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

/** Reads one JSON object. The error's words can follow a name. */
export const readJsonObject = (text: string): { readonly object: object } | { readonly problem: string } => {
  const parsed = parse(text);
  if (parsed === undefined) return { problem: 'is not JSON' };
  if (!isObject(parsed.value)) return { problem: 'is not a JSON object' };
  const seen: Survey = { members: 0, strings: text.includes('\\u') };
  const problem = survey(parsed.value, 1, seen);
  if (problem !== undefined) return { problem };
  if (writtenMembers(text) !== seen.members) return { problem: 'has two members of one name' };
  return { object: parsed.value };
};

/**
 * Reads a request's body: UTF-8, with or without a byte-order mark, and one JSON object.
 *
 * @returns The object, or fault 101 whose detail names the kind of problem and repeats nothing of the body.
 */
export const parseJson = (bytes: Uint8Array): Checked<unknown> => {
  const text = decode(bytes);
  if (text === undefined) return refuse(101, 'Body is not UTF-8');
  const read = readJsonObject(text);
  return 'object' in read ? ok(read.object) : refuse(101, `Body ${read.problem}`);
};

/**
 * What {@link parseJson} refuses and an already parsed value can still hold. For values that came by another way, such
 * as job data written by another program.
 *
 * @returns The problem in words, undefined when there is none.
 */
export const problemOfJson = (value: unknown): string | undefined =>
  survey(value, 1, { members: 0, strings: true });

const write = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => write(item) ?? 'null').join()}]`;
  let members = '';
  for (const name of Object.keys(value).sort()) {
    const member = write((value as Record<string, unknown>)[name]);
    if (member !== undefined) members += `${members && ','}${JSON.stringify(name)}:${member}`;
  }
  return `{${members}}`;
};

/**
 * Writes an answer: compact, member names in ASCII order at every level, members that are undefined left out. Shell
 * clients cut values out of answers with `sed` and rely on the order.
 *
 * Text is written member by member because an object cannot be sorted: engines put names that look like array indexes
 * first, whatever the order of insertion.
 */
export const toCanonicalJson = (value: unknown): string => write(value) ?? 'null';
