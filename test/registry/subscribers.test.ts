import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultTable } from '../../packages/protocol/src/fault.ts';
import { locationReport } from '../../src/registry/geofencing.ts';
import {
  createRangeIndex,
  findOverlaps,
  type NumberRange,
} from '../../src/registry/number-ranges.ts';
import { chooseMethod, sscdFault } from '../../src/registry/profile-selection.ts';
import type { SubscriberTemplate } from '../../src/registry/subscriber.ts';
import { createSubscriberRegistry, withParts } from '../../src/registry/subscribers.ts';
import { testUsers } from '../../src/registry/test-users.ts';
import { sscd, subscriber } from './people.ts';

const template = (first: string, last = first, language?: string): SubscriberTemplate => ({
  first,
  last,
  subscriber: subscriber({ sim: sscd('sim'), language }),
});

describe('the subscriber registry', () => {
  const registry = createSubscriberRegistry({
    subscribers: [
      template('41792000000', '41792999999', 'it'),
      template('41790000001', undefined, 'de'),
      template('41791000000', '41791000009', 'fr'),
    ],
    sandbox: false,
  });

  it.each([
    ['41790000001', 'de'],
    ['41791000000', 'fr'],
    ['41791000009', 'fr'],
    ['41792000000', 'it'],
    ['41792500000', 'it'],
    ['41792999999', 'it'],
  ])('finds %s, alone or in a range, under its own number', (msisdn, language) => {
    expect(registry.find(msisdn)).toMatchObject({ msisdn, language });
  });

  it.each([
    '41790000000',
    '41791000010',
    '41790999999',
    '41793000000',
    '1',
    '',
    '+41792500000',
    'x',
    '041792500000',
    '4.17925e10',
  ])('does not find %j', (msisdn) => {
    expect(registry.find(msisdn)).toBeUndefined();
  });

  it('knows the test users in a sandbox only', () => {
    const sandbox = createSubscriberRegistry({ subscribers: [], sandbox: true });
    expect(sandbox.find('41700092501')).toMatchObject({ msisdn: '41700092501' });
    expect(registry.find('41700092501')).toBeUndefined();
  });

  it('knows the health-check number in and out of a sandbox, whatever is configured for it', () => {
    const illegal = { code: 101, detail: 'Illegal msisdn' };
    const configured = [template('41000000000', '41000000009')];
    for (const sandbox of [true, false]) {
      const { find, isTestNumber } = createSubscriberRegistry({ subscribers: configured, sandbox });
      expect(find('41000000000')?.alwaysFaults).toEqual(illegal);
      expect(find('41000000001')?.alwaysFaults).toBeUndefined();
      expect(isTestNumber('41000000000')).toBe(false);
    }
    expect(registry.find('41000000000')?.alwaysFaults).toEqual(illegal);
  });

  it('lets a configured number hide a test user', () => {
    const { find } = createSubscriberRegistry({
      subscribers: [template('41700092500', '41700092501', 'rm')],
      sandbox: true,
    });
    expect(find('41700092501')).toMatchObject({ msisdn: '41700092501', language: 'rm' });
    expect(find('41700092502')?.language).toBeUndefined();
  });
});

const anyRange = fc
  .tuple(fc.integer({ min: 1_000_000, max: 1_000_200 }), fc.integer({ min: 0, max: 20 }))
  .map(([first, length]): NumberRange => ({ first: String(first), last: String(first + length) }));

describe('ranges of numbers', () => {
  it('overlap exactly when some number is in two of them', () => {
    fc.assert(
      fc.property(fc.array(anyRange, { maxLength: 8 }), (ranges) => {
        const numbers = ranges.flatMap(({ first, last }) =>
          Array.from(
            { length: Number(last) - Number(first) + 1 },
            (_, offset) => Number(first) + offset,
          ),
        );
        expect(findOverlaps(ranges).length > 0).toBe(new Set(numbers).size < numbers.length);
      }),
    );
  });

  it('are reported as pairs that do share a number, lower index first', () => {
    fc.assert(
      fc.property(fc.array(anyRange, { maxLength: 8 }), (ranges) => {
        for (const indexes of findOverlaps(ranges)) {
          const [one, other] = indexes.map((index) => ranges[index]);
          expect(indexes[0]).toBeLessThan(indexes[1]);
          expect(Number(one?.first)).toBeLessThanOrEqual(Number(other?.last));
          expect(Number(other?.first)).toBeLessThanOrEqual(Number(one?.last));
        }
      }),
    );
  });

  it('are found by each number in them and by no other', () => {
    fc.assert(
      fc.property(fc.array(anyRange, { maxLength: 8 }), (drawn) => {
        const ranges = drawn.filter(
          (range, index) => findOverlaps([...drawn.slice(0, index), range]).length === 0,
        );
        fc.pre(findOverlaps(ranges).length === 0);
        const find = createRangeIndex(ranges);
        for (let number = 999_999; number <= 1_000_222; number += 1) {
          const holder = ranges.find(
            ({ first, last }) => Number(first) <= number && number <= Number(last),
          );
          expect(find(String(number))).toBe(holder);
        }
      }),
    );
  });
});

describe('the test users', () => {
  const { find } = createSubscriberRegistry({ subscribers: [], sandbox: true });

  it('each have a number of their own', () => {
    expect(new Set(testUsers.map(({ msisdn }) => msisdn)).size).toBe(testUsers.length);
  });

  it('have robots with an EC and an RSA SIM that can be located in Switzerland', () => {
    for (const [msisdn, algorithm] of [
      ['41700092501', 'EC'],
      ['41700092502', 'RSA'],
    ] as const) {
      const robot = find(msisdn);
      expect(robot?.sim).toMatchObject({ algorithm, device: { kind: 'robot' } });
      expect(robot?.carrier).toMatchObject({ mcc: '228', mnc: '01' });
      expect(locationReport(robot?.location.sim, new Date(0))).toEqual({
        country: 'CH',
        accuracy: '105',
        deviceConfidence: '0.9',
        locationConfidence: '0.9',
        timestamp: '1970-01-01T00:00:00.000+00:00',
      });
    }
  });

  it.each(Object.keys(faultTable))('have a number that ends with %s and faults with it', (code) => {
    expect(find(`41000092${code}`)?.alwaysFaults).toMatchObject({ code: Number(code) });
  });

  it('have a health-check number with 101 Illegal msisdn', () => {
    expect(find('41000000000')?.alwaysFaults).toEqual({ code: 101, detail: 'Illegal msisdn' });
  });

  it.each([
    ['41700092503', 'signs', 'accepts'],
    ['41700092504', 'signs', 'cancels'],
    ['41700092505', 'signs', 'ignores'],
    ['41700092506', 'signs', 'never-answers'],
    ['41700092507', 'never-answers', 'never-answers'],
  ])('have a person at %s who %s and whose receipt %s', (msisdn, sign, receipt) => {
    expect(find(msisdn)?.sim?.device).toEqual({ kind: 'simulated', sign, receipt });
  });

  it('have a robot with an App only, one with both, and one that cannot be located', () => {
    const method = (
      msisdn: string,
      profile: 'Any-LoA4' | 'Device-LoA4' | 'Any-Geofencing-LoA4',
    ) => {
      const chosen = chooseMethod(find(msisdn), profile);
      return chosen.ok ? chosen.value.method : chosen.fault.code;
    };
    expect(method('41700092508', 'Any-LoA4')).toBe('app');
    expect(method('41700092509', 'Any-LoA4')).toBe('sim');
    expect(method('41700092509', 'Device-LoA4')).toBe('app');
    expect(method('41700092510', 'Any-LoA4')).toBe('sim');
    expect(method('41700092510', 'Any-Geofencing-LoA4')).toBe(109);
    expect(locationReport(find('41700092510')?.location.sim, new Date(0))).toMatchObject({
      errorCode: '200',
    });
  });

  it('are all healthy, so that a fault comes from alwaysFaults alone', () => {
    for (const user of testUsers) {
      const chosen = chooseMethod(user, 'Any-LoA4');
      expect(chosen.ok && chosen.value.sscd && sscdFault(chosen.value.sscd)).toBeUndefined();
      expect(chosen.ok).toBe(true);
    }
  });
});

describe('subscribers of whom parts keep something', () => {
  const configured = createSubscriberRegistry({
    subscribers: [template('41790000001', undefined, 'de')],
    sandbox: false,
  });
  const elsewhere = (msisdn: string) => ({ ...subscriber({ language: 'it' }), msisdn });
  const late = withParts(
    configured,
    [
      async (msisdn, known) =>
        msisdn === '41790000002' ? { ...subscriber({ language: 'fr' }), msisdn } : known,
      (_, known) => known && { ...known, recoveryCodeCreated: true },
    ],
    elsewhere,
  );

  it('are found at once where no part has to look', () => {
    const registry = withParts(configured, [(_, known) => known], elsewhere);
    expect(registry.find('41790000001')).toMatchObject({ language: 'de' });
  });

  it.each([
    ['41790000001', { language: 'de', recoveryCodeCreated: true }],
    ['41790000002', { language: 'fr', recoveryCodeCreated: true }],
  ])('are found with what each part adds, in their order: %s', async (msisdn, expected) => {
    expect(await late.find(msisdn)).toMatchObject({ msisdn, ...expected });
  });

  it('are at another service only when nobody here knows them', async () => {
    expect(await late.find('41790000003')).toMatchObject({ language: 'it' });
    expect(withParts(configured, [], elsewhere).find('41790000003')).toMatchObject({
      language: 'it',
    });
  });
});
