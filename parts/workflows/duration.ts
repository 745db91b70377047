/**
 * Times in definitions: ISO 8601 durations whose length does not depend on the calendar, and
 * date-times.
 */
import { normaliseInstant } from '../../packages/protocol/src/instant.ts';

export const minDurationMs = 1000;
export const maxDurationMs = 366 * 86_400_000;

const pattern =
  /^P(?=.)(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?=.)(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/;
const unitsMs = [604_800_000, 86_400_000, 3_600_000, 60_000, 1000];

/** @returns Milliseconds; NaN for no duration, and for one in months or years. */
export const readDuration = (text: string): number => {
  const match = pattern.exec(text);
  if (match === null) return Number.NaN;
  return unitsMs.reduce((sum, ms, index) => sum + ms * Number(match[index + 1] ?? 0), 0);
};

/** @returns Milliseconds since the epoch; undefined for no date-time with zone. */
export const readInstant = (text: string): number | undefined => {
  const instant = normaliseInstant(text);
  return instant === undefined ? undefined : Date.parse(instant);
};
