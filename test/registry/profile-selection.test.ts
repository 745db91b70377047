import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ProfileName, profileNames } from '../../packages/protocol/src/requests.ts';
import { chooseMethod, profilesOf, sscdFault } from '../../src/registry/profile-selection.ts';
import type { Sscd, Subscriber } from '../../src/registry/subscriber.ts';
import { bern, nowhere, sscd, subscriber } from './people.ts';

const answer = (user: Subscriber | undefined, profile: ProfileName): string | number => {
  const chosen = chooseMethod(user, profile);
  return chosen.ok ? chosen.value.answerProfile : chosen.fault.code;
};

const sim = sscd('sim');
const app = sscd('app');
const users = {
  none: subscriber(),
  sim: subscriber({ sim, location: { sim: bern, app: undefined } }),
  lostSim: subscriber({ sim, location: { sim: nowhere, app: undefined } }),
  app: subscriber({ apps: [app] }),
  both: subscriber({ sim, apps: [app], location: { sim: bern, app: bern } }),
  bothLostSim: subscriber({ sim, apps: [app] }),
  rsaSim: subscriber({ sim: sscd('sim', { algorithm: 'RSA' }) }),
};

describe('the choice of a method', () => {
  it.each<[ProfileName, ...(string | number)[]]>([
    ['Any-LoA4', 105, 'STK-LoA4', 'Device-LoA4', 'STK-LoA4'],
    ['MID/v1/AuthProfile1', 105, 'STK-LoA4', 'Device-LoA4', 'STK-LoA4'],
    ['STK-LoA4', 105, 'STK-LoA4', 109, 'STK-LoA4'],
    ['Device-LoA4', 105, 109, 'Device-LoA4', 'Device-LoA4'],
    ['MID/v1/AuthProfile1.ECC', 105, 'STK-LoA4', 109, 'STK-LoA4'],
    ['MID/v1/AuthProfile1.RSA', 105, 109, 109, 109],
    ['Any-Geofencing-LoA4', 105, 'STK-LoA4', 'Device-LoA4', 'STK-LoA4'],
  ])('serves %s for no SSCD, SIM, App, and both with %s, %s, %s, %s', (profile, ...expected) => {
    const { none, sim: simOnly, app: appOnly, both } = users;
    expect([none, simOnly, appOnly, both].map((user) => answer(user, profile))).toEqual(expected);
  });

  it('serves the RSA profile from a SIM with an RSA key and refuses it the ECC profile', () => {
    expect(answer(users.rsaSim, 'MID/v1/AuthProfile1.RSA')).toBe('STK-LoA4');
    expect(answer(users.rsaSim, 'MID/v1/AuthProfile1.ECC')).toBe(109);
  });

  it('serves the geofencing profile from the App when the SIM cannot be located, else refuses it', () => {
    expect(answer(users.bothLostSim, 'Any-Geofencing-LoA4')).toBe('Device-LoA4');
    expect(answer(users.lostSim, 'Any-Geofencing-LoA4')).toBe(109);
  });

  it('answers 105 MSISDN is unknown for an unknown number', () => {
    expect(chooseMethod(undefined, 'Any-LoA4')).toEqual({
      ok: false,
      fault: { code: 105, detail: 'MSISDN is unknown' },
    });
  });

  it('serves one-time passwords for any number, registered or not', () => {
    for (const user of [undefined, users.none, users.both]) {
      expect(chooseMethod(user, 'MID/v1/OtpProfileText')).toMatchObject({
        value: { method: 'otp-text', sscd: undefined, answerProfile: 'MID/v1/OtpProfileText' },
      });
      expect(chooseMethod(user, 'MID/v1/OtpProfileFlash')).toMatchObject({
        value: { method: 'otp-flash', sscd: undefined, answerProfile: 'MID/v1/OtpProfileFlash' },
      });
    }
  });

  it('takes the first active App of several', () => {
    const apps = [
      sscd('app', { id: 'app-0', state: 'INACTIVE' }),
      sscd('app', { id: 'app-1' }),
      app,
    ];
    expect(chooseMethod(subscriber({ apps }), 'Device-LoA4')).toMatchObject({
      value: { method: 'app', sscd: { id: 'app-1' } },
    });
  });

  it.each([
    { state: 'INACTIVE' },
    { certificateState: 'INACTIVE' },
    { certificateExpired: true },
  ] as const)(
    'takes somebody with an active App and a SIM that is %j for an App user',
    (deviation) => {
      const user = subscriber({ sim: sscd('sim', deviation), apps: [app] });
      expect(answer(user, 'Any-LoA4')).toBe('Device-LoA4');
      expect(answer(user, 'STK-LoA4')).toBe(109);
      const other = subscriber({ sim, apps: [sscd('app', { ...deviation, id: 'app-0' }), app] });
      expect(chooseMethod(other, 'Device-LoA4')).toMatchObject({ value: { sscd: { id: app.id } } });
    },
  );

  it('still chooses the only device when its certificate is expired, so that the fault is 422', () => {
    const chosen = chooseMethod(
      subscriber({ sim: sscd('sim', { certificateExpired: true }) }),
      'Any-LoA4',
    );
    expect(chosen.ok && chosen.value.sscd && sscdFault(chosen.value.sscd)?.code).toBe(422);
  });

  it('still chooses when nothing is active, so that the fault is 404 and not 105', () => {
    const chosen = chooseMethod(
      subscriber({ sim: sscd('sim', { state: 'REGISTERED' }) }),
      'Any-LoA4',
    );
    expect(chosen.ok && chosen.value.sscd && sscdFault(chosen.value.sscd)?.code).toBe(404);
  });

  it('does not turn to the App because the PIN of the SIM is blocked', () => {
    const user = subscriber({ sim: sscd('sim', { pinBlocked: true }), apps: [app] });
    expect(answer(user, 'Any-LoA4')).toBe('STK-LoA4');
  });
});

const anySscd = (kind: Sscd['kind']) =>
  fc
    .record({
      state: fc.constantFrom('ACTIVE' as const, 'INACTIVE' as const, 'REGISTERED' as const),
      algorithm: fc.constantFrom('EC' as const, 'RSA' as const),
      certificateState: fc.constantFrom('ACTIVE' as const, 'INACTIVE' as const),
      suspended: fc.boolean(),
      pinBlocked: fc.boolean(),
      certificateExpired: fc.boolean(),
    })
    .map((deviation) => sscd(kind, deviation));

const anySubscriber = fc
  .record({
    sim: fc.option(anySscd('sim'), { nil: undefined }),
    apps: fc.array(anySscd('app'), { maxLength: 3 }),
    location: fc.record({
      sim: fc.constantFrom(bern, nowhere, undefined),
      app: fc.constantFrom(bern, nowhere, undefined),
    }),
  })
  .map(subscriber);

const unlisted: readonly ProfileName[] = [
  'Any-Geofencing-LoA4',
  'MID/v1/OtpProfileFlash',
  'MID/v1/OtpProfileText',
];

describe('the list of profiles', () => {
  it('is that of the recorded answer for the robot with an EC SIM', () => {
    expect(profilesOf(users.sim)).toEqual([
      'Any-LoA4',
      'MID/v1/AuthProfile1',
      'MID/v1/AuthProfile1.ECC',
      'STK-LoA4',
    ]);
  });

  it('holds a profile exactly when a request for it finds a device that can sign, but for those that are never listed', () => {
    fc.assert(
      fc.property(anySubscriber, fc.constantFrom(...profileNames), (user, profile) => {
        const chosen = chooseMethod(user, profile);
        const device = chosen.ok ? chosen.value.sscd : undefined;
        const expected = device !== undefined && sscdFault(device) === undefined;
        expect(profilesOf(user).includes(profile)).toBe(expected && !unlisted.includes(profile));
      }),
    );
  });

  it('never names a method that the subscriber has no device for', () => {
    fc.assert(
      fc.property(anySubscriber, fc.constantFrom(...profileNames), (user, profile) => {
        const chosen = chooseMethod(user, profile);
        if (!chosen.ok || chosen.value.sscd === undefined) return;
        const { method, sscd: device, answerProfile } = chosen.value;
        expect([user.sim, ...user.apps]).toContain(device);
        expect(answerProfile).toBe(method === 'sim' ? 'STK-LoA4' : 'Device-LoA4');
      }),
    );
  });
});

describe('what is wrong with a device', () => {
  it('is nothing when it is active, unlocked and certified', () => {
    expect(sscdFault(sim)).toBeUndefined();
  });

  it.each([
    [403, { suspended: true }],
    [404, { state: 'INACTIVE' }],
    [404, { state: 'REGISTERED' }],
    [402, { pinBlocked: true }],
    [422, { certificateExpired: true }],
    [422, { certificateState: 'INACTIVE' }],
  ] as const)('is fault %i for %o', (code, deviation) => {
    expect(sscdFault(sscd('sim', deviation))?.code).toBe(code);
  });

  it('is what must be put right first: suspension, activation, PIN, certificate', () => {
    const ailments = [
      [403, { suspended: true }],
      [404, { state: 'INACTIVE' }],
      [402, { pinBlocked: true }],
      [422, { certificateExpired: true }],
    ] as const;
    const codes = ailments.map((_, index) =>
      sscdFault(
        sscd('sim', Object.assign({}, ...ailments.slice(index).map(([, ailment]) => ailment))),
      ),
    );
    expect(codes.map((found) => found?.code)).toEqual([403, 404, 402, 422]);
  });
});
