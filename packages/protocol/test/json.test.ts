import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonError, parseJson } from '../src/json.ts';
import { toCanonicalJson } from './canonical-json.ts';

// The same cases at each run.
fc.configureGlobal({ seed: 20240702 });

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const nested = (levels: number): string =>
  `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;

describe('parseJson', () => {
  it.each([
    [
      'bytes that are not UTF-8',
      new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]),
      'Body is not UTF-8',
    ],
    [
      'a UTF-8 encoded surrogate',
      new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]),
      'Body is not UTF-8',
    ],
    ['an empty body', bytes(''), 'Body is not JSON'],
    ['text that is not JSON', bytes('{"a":1,}'), 'Body is not JSON'],
    ['two objects', bytes('{}{}'), 'Body is not JSON'],
    ['an array', bytes('[{}]'), 'Body is not a JSON object'],
    ['null', bytes('null'), 'Body is not a JSON object'],
    ['a string', bytes('"{}"'), 'Body is not a JSON object'],
    ['33 levels of objects', bytes(nested(33)), 'Body is nested deeper than 32 levels'],
    [
      '100 000 levels of arrays',
      bytes(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
      'Body is nested deeper than 32 levels',
    ],
    ['two members of one name', bytes('{"a":1,"a":1}'), 'Body has two members of one name'],
    [
      'two members of one name deep inside',
      bytes('{"x":[{"a":1,"b":{"c":1 ,"c" \n:2}}]}'),
      'Body has two members of one name',
    ],
    [
      'two members of one name, one of them escaped',
      bytes('{"a":1,"\\u0061":2}'),
      'Body has two members of one name',
    ],
    ['a high surrogate alone', bytes('{"a":"x\\ud83dx"}'), 'Body has an unpaired surrogate'],
    ['a low surrogate alone', bytes('{"a":["\\ude00"]}'), 'Body has an unpaired surrogate'],
    ['a surrogate alone in a name', bytes('{"\\ud83d":1}'), 'Body has an unpaired surrogate'],
    ['NUL in a string', bytes('{"a":"x\\u0000"}'), 'Body has a NUL character'],
    ['NUL in a name', bytes('{"\\u0000":1}'), 'Body has a NUL character'],
    ['__proto__', bytes('{"a":{"__proto__":{"b":1}}}'), 'Body has a forbidden member name'],
    ['constructor', bytes('{"constructor":1}'), 'Body has a forbidden member name'],
    ['prototype, escaped', bytes('{"proto\\u0074ype":1}'), 'Body has a forbidden member name'],
  ])('refuses %s with fault 101', (_, body, detail) => {
    expect(parseJson(body)).toEqual({ ok: false, fault: { code: 101, detail } });
  });

  it.each([
    ['a byte-order mark', '\ufeff{"a":1}', { a: 1 }],
    ['32 levels', nested(32), JSON.parse(nested(32))],
    ['a surrogate pair, escaped', '{"a":"\\ud83d\\ude00"}', { a: '😀' }],
    [
      'equal names in different objects',
      '{"a":{"a":1},"b":[{"a":1},{"a":1}]}',
      { a: { a: 1 }, b: [{ a: 1 }, { a: 1 }] },
    ],
    [
      'colons, quotes and backslashes inside strings',
      '{"a\\":":"\\\\","b":"\\":\\"","c\\\\":"\\\\\\""}',
      { 'a":': '\\', b: '":"', 'c\\': '\\"' },
    ],
  ])('accepts %s', (_, text, value) => {
    expect(parseJson(bytes(text))).toEqual({ ok: true, value });
  });

  it('is not disturbed by a body that it refused before', () => {
    parseJson(new Uint8Array([0xe2, 0x82]));
    expect(parseJson(bytes('{"a":"€"}'))).toEqual({ ok: true, value: { a: '€' } });
  });

  it('reads every object that JSON.stringify writes, with or without white space', () => {
    const member = fc.string({ unit: 'grapheme' }).filter((name) => !name.includes('\0'));
    const value = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        member,
        fc.double(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('node')),
        tie('object'),
      ),
      object: fc.dictionary(
        member.filter((name) => !['__proto__', 'constructor', 'prototype'].includes(name)),
        tie('node'),
        { noNullPrototype: true },
      ),
    })).object;
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, '\t'), (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        expect(parseJson(bytes(text))).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 64 }),
        (body) => typeof parseJson(body).ok === 'boolean',
      ),
    );
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('{', '}', '"', ':', '\\', ',', 'a', ' ', '[', ']') }),
        (body) => typeof parseJson(bytes(body)).ok === 'boolean',
      ),
    );
  });
});

describe('findJsonError', () => {
  it('finds in a parsed value what a body would be refused for', () => {
    expect(findJsonError({ a: ['\ud800'] })).toBe('has an unpaired surrogate');
    expect(findJsonError({ a: { constructor: 1 } })).toBe('has a forbidden member name');
    expect(findJsonError(JSON.parse(nested(33)))).toBe('is nested deeper than 32 levels');
    expect(findJsonError({ a: ['x', 1, null, true] })).toBeUndefined();
  });
});

describe('toCanonicalJson', () => {
  it('writes members in ASCII order at every level, even names that look like indexes', () => {
    expect(toCanonicalJson({ b: 1, a: [{ d: 1, c: 2 }], B: { _: 1, Z: 2 }, '10': 1, '9': 2 })).toBe(
      '{"10":1,"9":2,"B":{"Z":2,"_":1},"a":[{"c":2,"d":1}],"b":1}',
    );
  });

  it('leaves out members that are undefined', () => {
    expect(toCanonicalJson({ a: undefined, b: [undefined], c: { d: undefined } })).toBe(
      '{"b":[null],"c":{}}',
    );
  });

  it('means what JSON.stringify means', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(toCanonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
