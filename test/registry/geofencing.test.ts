import { describe, expect, it } from 'vitest';
import type { GeofencingPolicy } from '../../packages/protocol/src/requests.ts';
import { locationReport, violatesPolicy } from '../../src/registry/geofencing.ts';
import { bern, nowhere } from './people.ts';

const now = new Date('2024-07-02T08:53:10.537Z');

const policy = (bounds: Partial<GeofencingPolicy> = {}): GeofencingPolicy => ({
  countryWhitelist: [],
  countryBlacklist: [],
  minDeviceConfidence: undefined,
  minLocationConfidence: undefined,
  maxTimestampMinutes: undefined,
  maxAccuracyMeters: undefined,
  ...bounds,
});

describe('a location report', () => {
  it('gives every value as a string, and the time of the fix with an offset', () => {
    expect(locationReport(bern, now)).toEqual({
      country: 'CH',
      accuracy: '105',
      deviceConfidence: '0.9',
      locationConfidence: '0.8',
      timestamp: '2024-07-02T08:43:10.537+00:00',
    });
  });

  it.each([
    [0, '0'],
    [1, '1.0'],
    [0.85, '0.85'],
    [0.1 + 0.2, '0.3'],
    [0.999, '1.0'],
    [1e-7, '0'],
  ])('writes confidence %d as %s', (value, written) => {
    expect(locationReport({ ...bern, deviceConfidence: value }, now)).toMatchObject({
      deviceConfidence: written,
    });
  });

  it('gives the accuracy in whole metres', () => {
    expect(locationReport({ ...bern, accuracyMeters: 12.6 }, now)).toMatchObject({
      accuracy: '13',
    });
  });

  it('is an error code and message when the location service failed', () => {
    expect(locationReport(nowhere, now)).toEqual({
      errorCode: '105',
      errorMessage: 'Location services are off',
    });
  });

  it('is error 120 when nobody knows a location', () => {
    expect(locationReport(undefined, now)).toMatchObject({ errorCode: '120' });
  });
});

describe('a geofencing policy', () => {
  it.each([
    ['a country that is not on the white list', { countryWhitelist: ['DE', 'AT'] }],
    ['a country on the black list', { countryBlacklist: ['CH'] }],
    ['a country on both lists', { countryWhitelist: ['CH'], countryBlacklist: ['CH'] }],
    ['too little trust in the device', { minDeviceConfidence: 0.91 }],
    ['too little trust in the location', { minLocationConfidence: 0.81 }],
    ['a fix that is too old', { maxTimestampMinutes: 9 }],
    ['a fix that is too coarse', { maxAccuracyMeters: 104 }],
  ])('is violated by %s', (_, bounds) => {
    expect(violatesPolicy(bern, policy(bounds))).toBe(true);
  });

  it('holds at its very bounds, whatever case the countries are in', () => {
    const bounds = policy({
      countryWhitelist: ['ch'],
      countryBlacklist: ['DE'],
      minDeviceConfidence: 0.9,
      minLocationConfidence: 0.8,
      maxTimestampMinutes: 10,
      maxAccuracyMeters: 105,
    });
    expect(violatesPolicy(bern, bounds)).toBe(false);
  });

  it('is violated without a location, since then no bound can be shown to hold', () => {
    for (const location of [nowhere, undefined]) {
      expect(violatesPolicy(location, policy({ maxAccuracyMeters: 1000 }))).toBe(true);
      expect(violatesPolicy(location, policy({ countryBlacklist: ['DE'] }))).toBe(true);
    }
  });

  it('that asks for nothing is never violated', () => {
    for (const location of [bern, nowhere, undefined]) {
      expect(violatesPolicy(location, policy())).toBe(false);
      expect(violatesPolicy(location, undefined)).toBe(false);
    }
  });
});
