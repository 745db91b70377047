/**
 * ISO 8601 date-times of requests, and the one form of answers and comparisons.
 *
 * The form is read leniently, since clients differ: seconds may be absent, a fraction may have any
 * number of digits after a point or comma, and the zone is `Z`, `+02:00`, `+0200` or `+02`. But the
 * zone must be there, and the date must exist.
 */
const pattern =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:Z|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)$/;

const minuteMs = 60_000;
/** The length of `2024-07-02T08:06:55.134Z`. Years before 0 and after 9999 are longer. */
const normalLength = 24;

/** Whether an instant is already normal, like stored ones and those of most clients. */
const isNormal = (text: string): boolean => {
  if (text.length !== normalLength) return false;
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString() === text;
};

/** @returns UTC with three decimals (cut, not rounded) and `Z`; undefined for other texts. */
export const normaliseInstant = (text: string): string | undefined => {
  if (isNormal(text)) return text;
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, minutes = '', seconds = '00', fraction = '', sign, zoneHours = '0', zoneMinutes = '0'] =
    match;
  const local = `${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  const date = new Date(local);
  // Engines read 30 February as 1 March and 24:00 as the next day.
  if (Number.isNaN(date.getTime()) || date.toISOString() !== local) return undefined;
  if (sign === undefined) return local;
  const offsetMs = (Number(zoneHours) * 60 + Number(zoneMinutes)) * minuteMs;
  const normal = new Date(date.getTime() + (sign === '+' ? -offsetMs : offsetMs)).toISOString();
  return normal.length === normalLength ? normal : undefined;
};
