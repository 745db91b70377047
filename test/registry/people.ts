import type { Location, Sscd, Subscriber } from '../../src/registry/subscriber.ts';

/** A healthy device and a subscriber without any, for tests that care about one deviation. */
export const sscd = (kind: Sscd['kind'], deviation: Partial<Sscd> = {}): Sscd => ({
  kind,
  id: kind === 'sim' ? 'sim' : 'app-0',
  state: 'ACTIVE',
  suspended: false,
  pinBlocked: false,
  algorithm: 'EC',
  certificateState: 'ACTIVE',
  certificateExpired: false,
  device: { kind: 'robot', thinkSeconds: 0 },
  ...deviation,
});

export const subscriber = (deviation: Partial<Subscriber> = {}): Subscriber => ({
  msisdn: '41790000001',
  language: undefined,
  sim: undefined,
  apps: [],
  carrier: undefined,
  location: { sim: undefined, app: undefined },
  autoActivation: false,
  recoveryCodeCreated: false,
  alwaysFaults: undefined,
  ...deviation,
});

export const bern: Location = {
  country: 'CH',
  accuracyMeters: 105,
  deviceConfidence: 0.9,
  locationConfidence: 0.8,
  ageSeconds: 600,
};

export const nowhere: Location = { errorCode: '105', errorMessage: 'Location services are off' };
