import type { LocationError, LocationReport } from '../../packages/protocol/src/outcome.ts';
import type { GeofencingPolicy } from '../../packages/protocol/src/requests.ts';
import type { Location } from './subscriber.ts';

/**
 * The location of a device: its report, and its check against a policy. All values of a report are
 * strings (interface section 2.2).
 */

/** A confidence as the wire writes it: `0`, `0.85`, `0.9`, `1.0`. */
const confidence = (value: number): string => {
  const rounded = Math.round(value * 100) / 100;
  return rounded === 1 ? '1.0' : String(rounded);
};

/** A time in ISO 8601 with a numeric offset, which clients expect even for UTC. */
const withOffset = (time: Date): string => time.toISOString().replace('Z', '+00:00');

/**
 * @param location Undefined when it is unknown. Then the report is error 120, an unspecified
 *   failure.
 * @param now The time of the request; the fix of the location is older.
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

/** Whether a policy has a bound or a list that is not empty. */
const asksForSomething = (policy: GeofencingPolicy): boolean =>
  Object.values(policy).some((bound) =>
    Array.isArray(bound) ? bound.length > 0 : bound !== undefined,
  );

/**
 * Whether a request with this policy must end in fault 450. Bounds are inclusive. An unknown
 * location violates every policy that is not empty, because switching the GPS off must not open a
 * fence.
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
