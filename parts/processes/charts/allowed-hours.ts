/**
 * The hours in which a person may get a prompt: pure computation with the calendar of a time zone.
 *
 * A local time that a change of the clock leaves out begins when the clock has changed. A local
 * time that comes twice begins the first time.
 */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export interface AllowedHours {
  /** The begin of the hours: `08:00`. */
  readonly from: string;
  /** The end of the hours, after `from`: `18:00`. From then on there is no prompt. */
  readonly to: string;
  /** The IANA name of the time zone: `Europe/Zurich`. */
  readonly timeZone: string;
  readonly days: readonly (typeof weekdays)[number][];
}

const dayMs = 86_400_000;
const minuteMs = 60_000;

/** Formats that are kept. A zone has thousands of spellings, and each format takes kilobytes. */
const maxFormats = 100;
const formats = new Map<string, Intl.DateTimeFormat>();

/** The format of a zone. It is kept, because making one takes longer than a thousand uses. */
const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    calendar: 'iso8601',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  if (formats.size === maxFormats) formats.clear();
  formats.set(timeZone, format);
  return format;
};

/** The local time of the zone as if it were UTC; milliseconds. */
const localOf = (at: number, timeZone: string): number => {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>;
  const { year, month, day, hour, minute, second } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((at % 1000) + 1000) % 1000);
};

/** The first instant at which the clock of the zone shows this time or a later one. */
const instantOf = (local: number, timeZone: string): number => {
  const candidates = [local - dayMs, local + dayMs].map(
    (near) => local - (localOf(near, timeZone) - near),
  ) as [number, number];
  const early = Math.min(...candidates);
  if (localOf(early, timeZone) === local) return early;
  const late = Math.max(...candidates);
  if (localOf(late, timeZone) === local) return late;
  // The time is left out: the change lies between the two, and the clock jumps over it.
  let [before, after] = [early - dayMs / 8, late];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (localOf(middle, timeZone) >= local) after = middle;
    else before = middle;
  }
  return after;
};

const msOf = (time: string): number => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return (hours * 60 + minutes) * minuteMs;
};

/**
 * @param at Milliseconds since the epoch.
 * @returns The first moment from `at` on at which the person may get a prompt.
 */
export const nextAllowed = ({ from, to, timeZone, days }: AllowedHours, at: number): number => {
  const local = localOf(at, timeZone);
  const today = Math.floor(local / dayMs) * dayMs;
  for (let day = 0; day <= 8; day += 1) {
    const midnight = today + day * dayMs;
    // 1 January 1970 was a Thursday.
    const weekday = weekdays[(midnight / dayMs + 3) % 7];
    if (weekday === undefined || !days.includes(weekday) || local >= midnight + msOf(to)) continue;
    if (local >= midnight + msOf(from)) return at;
    const begins = Math.max(instantOf(midnight + msOf(from), timeZone), at);
    // A change of the clock may leave out all hours of a day.
    if (localOf(begins, timeZone) < midnight + msOf(to)) return begins;
  }
  return at;
};
