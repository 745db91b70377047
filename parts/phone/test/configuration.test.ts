/** Which subscribers may have phones in browsers. */
import { describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';

const phone = { device: { kind: 'phone' } };

const problemsOf = (subscriber: object): readonly string[] => {
  const robot = { msisdn: '+41790000001', sim: {} };
  const loaded = parseConfiguration(
    JSON.stringify({ subscribers: [robot, { msisdn: '+41790000002', ...subscriber }] }),
  );
  return loaded.ok ? [] : loaded.problems;
};

describe('the device of the kind phone', () => {
  it('is an App, beside a SIM and Apps of other kinds', () => {
    expect(problemsOf({ sim: {}, apps: [{}, phone] })).toEqual([]);
  });

  it.each<[string, object, string]>([
    [
      'a SIM',
      { sim: phone },
      'subscribers[1].sim.device.kind: must be that of a SIM: a phone in the browser is an App',
    ],
    [
      'two Apps of one number',
      { apps: [phone, {}, phone] },
      'subscribers[1].apps: may have one App of the kind phone: it stands for all phones of the number',
    ],
    [
      'an App with an RSA key',
      { apps: [{ ...phone, certificate: { algorithm: 'RSA' } }] },
      'subscribers[1].apps: must have EC keys where they are phones',
    ],
  ])('is not %s', (_, subscriber, problem) => {
    expect(problemsOf(subscriber)).toEqual([problem]);
  });
});
