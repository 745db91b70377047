import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normaliseInstant } from '../src/instant.ts';

// The same cases at each run.
fc.configureGlobal({ seed: 20240702 });

describe('an instant', () => {
  it.each([
    ['2024-07-02T08:06:55.134Z', '2024-07-02T08:06:55.134Z'],
    ['2024-07-02T08:06:55Z', '2024-07-02T08:06:55.000Z'],
    ['2024-07-02T08:06Z', '2024-07-02T08:06:00.000Z'],
    ['2024-07-02T08:06:55.1Z', '2024-07-02T08:06:55.100Z'],
    ['2024-07-02T08:06:55,1239999999Z', '2024-07-02T08:06:55.123Z'],
    ['2015-01-01T12:00:00.000+01:00', '2015-01-01T11:00:00.000Z'],
    ['2015-01-01T12:00:00+0130', '2015-01-01T10:30:00.000Z'],
    ['2015-01-01T00:00:00-05', '2015-01-01T05:00:00.000Z'],
    ['2024-12-31T23:59:59.999-00:01', '2025-01-01T00:00:59.999Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('%s is normalised to %s', (text, normal) => {
    expect(normaliseInstant(text)).toBe(normal);
  });

  it.each([
    '',
    '2024-07-02',
    '2024-07-02T08:06:55.134',
    '2024-07-02 08:06:55Z',
    '20240702T080655Z',
    '2024-07-02T08:06:55.Z',
    '2024-02-30T08:06:55Z',
    '2023-02-29T08:06:55Z',
    '2024-13-01T08:06:55Z',
    '2024-07-02T24:00:00Z',
    '2024-07-02T08:60:00Z',
    '2024-07-02T08:06:60Z',
    '2024-07-02T08:06:55+24:00',
    '0000-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '1719907615',
    ' 2024-07-02T08:06:55Z',
    '2024-07-02T08:06:55Z\n',
    '{{instant}}',
  ])('%j is none', (text) => {
    expect(normaliseInstant(text)).toBeUndefined();
  });

  it('stays as it is once it is normalised', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (date) => {
          expect(normaliseInstant(date.toISOString())).toBe(date.toISOString());
        },
      ),
    );
  });
});
