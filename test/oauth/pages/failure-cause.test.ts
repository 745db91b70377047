import { describe, expect, it } from 'vitest';
import { failureCauseOf } from '../../../src/oauth/pages/failure-cause.ts';
import { fault, faultCodes } from '../../../src/protocol/fault.ts';

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
      expect(failureCauseOf(fault(code))).toBe(expected);
    },
  );
});
