/** What a client wants of the beginning of its logins, with and without devices that begin some. */
import { expect, it } from 'vitest';
import { startRuleOf } from '../../../src/oauth/interaction/device-start.ts';

const start = { forQr: () => '', forDevice: () => ({ link: '', cookie: '' }) };

it.each([
  ['off', 'off', 'off'],
  ['offered', 'offered', 'off'],
  // A number alone never takes the place of a device that is demanded.
  ['required', 'required', 'required'],
] as const)(
  'a client with phoneStart %s: %s, and without such devices %s',
  (phoneStart, here, without) => {
    expect(startRuleOf({ phoneStart }, start)).toBe(here);
    expect(startRuleOf({ phoneStart }, undefined)).toBe(without);
  },
);
