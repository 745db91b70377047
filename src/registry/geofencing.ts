import type { LocationError, LocationReport } from '../protocol/outcome.ts';
import type { GeofencingPolicy } from '../protocol/requests.ts';
import type { Location } from './subscriber.ts';

/**
 * Where a device is: as reported, and as judged by a policy. All values of a report are strings
 * (interface section 2.2).
 */

/** `0`, `0.85`, `0.9`, `1.0`. */
const confidence = (value: number): string => {
  const rounded = Math.round(value * 100) / 100;
  return rounded === 1 ? '1.0' : String(rounded);
};

/** With a numeric offset, which clients expect even for UTC. */
const withOffset = (time: Date): string => time.toISOString().replace('Z', '+00:00');

/**
 * @param location Undefined when unknown: error 120, an unspecified failure.
 * @param now When the location was asked for; the fix is older.
 */
export const locationReport = (
  location: Location | undefined,
  now: Date,
): LocationReport | LocationError => {
  if (location === undefined)
    return { errorCode: '120', errorMessage: 'Location is not available' };
  if ('errorCode' in location) {
    return { errorCode: location.errorCode, errorMessage: location.errorMessage };
  }
  return {
    country: location.country,
    accuracy: String(Math.round(location.accuracyMeters)),
    deviceConfidence: confidence(location.deviceConfidence),
    locationConfidence: confidence(location.locationConfidence),
    timestamp: withOffset(new Date(now.getTime() - location.ageSeconds * 1000)),
  };
};

const lists = (countries: readonly string[], country: string): boolean =>
  countries.some((listed) => listed.toUpperCase() === country.toUpperCase());

const isBelow = (value: number, bound: number | undefined): boolean =>
  bound !== undefined && value < bound;
const isAbove = (value: number, bound: number | undefined): boolean =>
  bound !== undefined && value > bound;

/** A policy of empty lists and no bounds asks for nothing. */
const asksForSomething = (policy: GeofencingPolicy): boolean =>
  Object.values(policy).some((bound) =>
    Array.isArray(bound) ? bound.length > 0 : bound !== undefined,
  );

/**
 * Whether a request with this policy must end in fault 450. Bounds are inclusive. Without a
 * location no bound can be shown to hold, so a policy that asks for anything is violated: to switch
 * the GPS off must not open a fence.
 */
export const violatesPolicy = (
  location: Location | undefined,
  policy: GeofencingPolicy | undefined,
): boolean => {
  if (policy === undefined || !asksForSomething(policy)) return false;
  if (location === undefined || 'errorCode' in location) return true;
  return (
    (policy.countryWhitelist.length > 0 && !lists(policy.countryWhitelist, location.country)) ||
    lists(policy.countryBlacklist, location.country) ||
    isBelow(location.deviceConfidence, policy.minDeviceConfidence) ||
    isBelow(location.locationConfidence, policy.minLocationConfidence) ||
    isAbove(location.ageSeconds / 60, policy.maxTimestampMinutes) ||
    isAbove(location.accuracyMeters, policy.maxAccuracyMeters)
  );
};
