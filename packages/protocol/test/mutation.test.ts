/**
 * Whatever becomes of a valid request, the answer is a request or a fault of the table, and no
 * secret is repeated.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFaultCode } from '../src/fault.ts';
import type { Operation } from '../src/parse.ts';
import { changed, type Path, parseAs, protocol, samples } from './samples.ts';

// The same cases at each run.
fc.configureGlobal({ seed: 20240702 });

const pathsOf = (value: unknown, path: Path = []): readonly Path[] => {
  const children: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? value.map((item, index) => [index, item] as const)
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
      : [];
  return [
    ...(path.length > 0 ? [path] : []),
    ...children.flatMap(([step, child]) => pathsOf(child, [...path, step])),
  ];
};

const marker = 'VALUE-NOT-TO-BE-REPEATED';
const replacement = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom(
    null,
    '',
    0,
    -1,
    true,
    [],
    {},
    marker,
    '\ud800',
    '\0',
    '1',
    '2',
    'synch',
    Number.NaN,
  ),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary', maxLength: 300 }).map((text) => `${marker}${text}`),
);

/** A path may be gone after an earlier change; then the later one has nothing to change. */
const tryChange = (body: unknown, path: Path, value: unknown): unknown => {
  try {
    return changed(body, path, value);
  } catch {
    return body;
  }
};

describe.each(Object.keys(samples) as Operation[])('a spoiled %s request', (operation) => {
  const change = fc.tuple(fc.constantFrom(...pathsOf(samples[operation])), replacement);

  it('never throws, and ends well or in a fault of the table that repeats no value', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const body = changes.reduce<unknown>(
          (spoiled, [path, value]) => tryChange(spoiled, path, value),
          samples[operation],
        );
        const parsed = parseAs(operation, body);
        if (parsed.ok) return;
        expect(isFaultCode(parsed.fault.code)).toBe(true);
        expect([101, 102, 103, 107, 108, 109]).toContain(parsed.fault.code);
        expect(parsed.fault.detail).not.toContain(marker);
        expect(parsed.fault.detail).not.toContain('secret-of-the-ap');
        expect(parsed.fault.detail).toMatch(/^(MSS_\w+Req|Body|Illegal msisdn)/);
      }),
      { numRuns: 500 },
    );
  });

  it('is no request of any kind when it is any JSON value', () => {
    fc.assert(fc.property(fc.jsonValue(), (body) => !parseAs(operation, body).ok));
  });
});

describe('an accepted sign request', () => {
  it('can always be stored and read back, and is then stored alike', () => {
    const change = fc.tuple(fc.constantFrom(...pathsOf(samples.sign)), replacement);
    fc.assert(
      fc.property(change, ([path, value]) => {
        const parsed = protocol.parseSign(tryChange(samples.sign, path, value));
        if (!parsed.ok) return;
        const stored: unknown = JSON.parse(JSON.stringify(parsed.value.wire));
        const again = protocol.parseSign({ MSS_SignatureReq: stored });
        expect(again.ok && JSON.stringify(again.value.wire)).toBe(JSON.stringify(stored));
      }),
      { numRuns: 500 },
    );
  });
});
