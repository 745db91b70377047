import { describe, expect, it } from 'vitest';
import { faultCodes, faultTable } from '../../packages/protocol/src/fault.ts';
import { findFailureCause, otherLoginError, toLoginError } from '../../src/oauth/login-failures.ts';

const explained = {
  105: 'no-method',
  109: 'no-method',
  208: 'no-response',
  209: 'unreachable',
  401: 'rejected',
  402: 'pin-blocked',
  403: 'suspended',
  404: 'needs-activation',
  406: 'busy-phone',
  422: 'certificate',
  450: 'location',
};

describe('the cause of a failed login', () => {
  it.each(faultCodes.map((code) => [code]))(
    'explains fault %i in a way of its own, or as our mistake',
    (code) => {
      const expected = new Map(Object.entries(explained)).get(String(code)) ?? 'internal';
      expect(findFailureCause({ code })).toBe(expected);
    },
  );
});

describe('the error that a client is told', () => {
  it.each(faultCodes.map((code) => [code, faultTable[code].reason] as const))(
    'for %i %s has a stable code, and fixed words that OAuth can carry',
    (code) => {
      const { error, description, trace } = toLoginError({ code });
      expect(error).toBe(code === 900 ? 'server_error' : 'access_denied');
      expect(description).toMatch(/^mid_(auth_\d{4}|sys_9900)_[\w-]{8} - [a-z ]+$/);
      expect(description).toContain(trace);
    },
  );

  it('carries the trace of the login', () => {
    expect(toLoginError({ code: 208 }, 'abcd1234').description).toMatch(
      /^mid_auth_3300_abcd1234 - /,
    );
    expect(otherLoginError('abcd1234').description).toMatch(/^mid_auth_3900_abcd1234 - /);
  });
});
