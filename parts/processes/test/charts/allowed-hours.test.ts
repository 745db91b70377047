import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { type AllowedHours, nextAllowed, weekdays } from '../../charts/allowed-hours.ts';

const zurich: AllowedHours = {
  from: '08:00',
  to: '18:00',
  timeZone: 'Europe/Zurich',
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
};
const next = (rule: Partial<AllowedHours>, at: string): string =>
  new Date(nextAllowed({ ...zurich, ...rule }, Date.parse(at))).toISOString();

it.each([
  ['within the hours: now', {}, '2026-01-05T09:00:00.123Z', '2026-01-05T09:00:00.123Z'],
  ['before them', {}, '2026-01-05T06:59:59.999Z', '2026-01-05T07:00:00.000Z'],
  ['at their end', {}, '2026-01-05T17:00:00Z', '2026-01-06T07:00:00.000Z'],
  ['on Friday evening: on Monday', {}, '2026-01-09T17:00:00Z', '2026-01-12T07:00:00.000Z'],
  ['over the beginning of summer time', {}, '2026-03-27T17:00:00Z', '2026-03-30T06:00:00.000Z'],
  ['over its end', {}, '2026-10-23T16:00:00Z', '2026-10-26T07:00:00.000Z'],
  [
    'on the one allowed day of the week',
    { days: ['wed'] as const },
    '2026-01-07T17:30:00Z',
    '2026-01-14T07:00:00.000Z',
  ],
  [
    'at a time that summer time leaves out: when it has begun',
    { from: '02:30', days: ['sun'] as const },
    '2026-03-28T22:00:00Z',
    '2026-03-29T01:00:00.000Z',
  ],
  [
    'at a time that comes twice: with the first',
    { from: '02:30', days: ['sun'] as const },
    '2026-10-24T22:00:00Z',
    '2026-10-25T00:30:00.000Z',
  ],
  [
    'when all hours of the day are left out: a week later',
    { from: '02:00', to: '03:00', days: ['sun'] as const },
    '2026-03-28T22:00:00Z',
    '2026-04-05T00:00:00.000Z',
  ],
  [
    'until midnight',
    { from: '20:00', to: '24:00' },
    '2026-01-05T22:59:59Z',
    '2026-01-05T22:59:59.000Z',
  ],
  [
    'far in the east',
    { timeZone: 'Pacific/Kiritimati' },
    '2026-01-04T10:00:00Z',
    '2026-01-04T18:00:00.000Z',
  ],
  [
    'where summer time is half an hour',
    { timeZone: 'Australia/Lord_Howe', from: '02:00', days: ['sun'] as const },
    '2026-10-03T12:00:00Z',
    '2026-10-03T15:30:00.000Z',
  ],
] as const)('%s', (_, rule, at, expected) => {
  expect(next(rule, at)).toBe(expected);
});

it('gives a moment within the hours, and none between is', () => {
  const time = fc.integer({ min: 0, max: 1439 });
  const written = (minutes: number): string =>
    `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
  const zones = [
    'Europe/Zurich',
    'America/New_York',
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
    'America/Santiago',
    'UTC',
  ];
  /** Another way to know what the clock of the zone shows. */
  const shows = (at: number, timeZone: string) => {
    const text = new Date(at).toLocaleString('sv-SE', { timeZone });
    const [date = '', clock = ''] = text.split(' ');
    return { day: weekdays[(new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7], clock };
  };
  const isAllowed = ({ from, to, timeZone, days }: AllowedHours, at: number): boolean => {
    const { day, clock } = shows(at, timeZone);
    return day !== undefined && days.includes(day) && clock >= `${from}:00` && clock < `${to}:00`;
  };
  fc.assert(
    fc.property(
      ...[time, time, fc.constantFrom(...zones), fc.subarray([...weekdays], { minLength: 1 })],
      fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) }),
      (one, other, timeZone, days, at) => {
        fc.pre(Math.abs(one - other) > 61);
        const rule = {
          from: written(Math.min(one, other)),
          to: written(Math.max(one, other)),
          timeZone,
          days,
        };
        const found = nextAllowed(rule, at);
        expect(found).toBeGreaterThanOrEqual(at);
        expect(isAllowed(rule, found)).toBe(true);
        for (let share = 0; share < 5; share += 1) {
          const between = Math.floor(at + ((found - at) * share) / 5);
          if (between < found) expect(isAllowed(rule, between)).toBe(false);
        }
        if (found > at) expect(isAllowed(rule, found - 1)).toBe(false);
      },
    ),
    { numRuns: 300, seed: 7 },
  );
});

it('keeps some time zones, not every spelling of them', () => {
  const { DateTimeFormat } = Intl;
  let made = 0;
  class Counted extends DateTimeFormat {
    constructor(...given: ConstructorParameters<typeof DateTimeFormat>) {
      super(...given);
      made += 1;
    }
  }
  Intl.DateTimeFormat = Counted as typeof DateTimeFormat;
  onTestFinished(() => {
    Intl.DateTimeFormat = DateTimeFormat;
  });
  const look = (timeZone: string): number => {
    const before = made;
    expect(next({ timeZone }, '2026-01-05T06:00:00Z')).toBe('2026-01-05T07:00:00.000Z');
    return made - before;
  };
  const letters = [...'europe/zurich'];
  const spellings = Array.from({ length: 200 }, (_, bits) =>
    letters
      .map((letter, index) => ((bits >> index) % 2 === 1 ? letter.toUpperCase() : letter))
      .join(''),
  );
  const [first = ''] = spellings;
  expect([look(first), look(first)]).toEqual([1, 0]);
  for (const spelling of spellings) look(spelling);
  expect(look(first)).toBe(1);
});
