/** Times of the console in UTC, or in a time zone that a person has chosen. */

/** The format for a time zone; undefined for an unknown zone. */
const formatIn = (timeZone: string): Intl.DateTimeFormat | undefined => {
  try {
    // The Swedish format of a time is that of ISO 8601.
    return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone });
  } catch {
    return undefined;
  }
};

export const isTimeZone = (name: string): boolean => formatIn(name) !== undefined;

/**
 * A date and perhaps a time, without a zone, as browsers send a field of the kind datetime-local.
 */
const wallTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?$/;

export interface Clock {
  /** The time zone: `UTC` or `Europe/Zurich`. */
  readonly zone: string;
  /** Writes `2026-11-21 14:03:09.120`; an empty text for a value that is not a time. */
  write(at: number): string;
  /**
   * Reads a local time without a zone.
   * @returns Milliseconds since the epoch; undefined for any other text.
   */
  read(text: string): number | undefined;
}

const isoOf = (at: number): string => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
};

const utcText = (at: number): string => isoOf(at).replace('T', ' ').replace('Z', '');

/** @param times A time zone; any other text means UTC. */
export const clockOf = (times: string): Clock => {
  const format = times === 'UTC' ? undefined : formatIn(times);
  const write = (at: number): string => {
    const iso = isoOf(at);
    if (format === undefined || iso === '') return utcText(at);
    return `${format.format(at)}.${iso.slice(20, 23)}`;
  };
  const offsetAt = (at: number): number => Date.parse(`${write(at).replace(' ', 'T')}Z`) - at;
  return {
    zone: format === undefined ? 'UTC' : times,
    write,
    read: (text) => {
      const [date, time = '00:00'] = wallTime.test(text) ? text.split('T') : [];
      const asUtc = Date.parse(`${date}T${time}Z`);
      if (Number.isNaN(asUtc)) return undefined;
      // The offset of the moment itself. The first guess is right, except near a change of the
      // clocks.
      const guess = asUtc - offsetAt(asUtc);
      return asUtc - offsetAt(guess);
    },
  };
};
