/** Failing callbacks by receiver. */
import { describe, expect, it } from 'vitest';
import type { CallbackRow } from '../callback-row.ts';
import { receiversOf } from '../receivers.ts';

const apId = 'mid://shop.example';
const row = (changes: Partial<CallbackRow>): CallbackRow => ({
  id: 'H01a-1-signed',
  apId,
  event: 'signed',
  endedAt: 1000,
  host: 'hooks.shop.example',
  state: 'waiting',
  tries: 1,
  ...changes,
});

describe('the receivers of failing callbacks', () => {
  it('have counts, problems by number, and the first and last times', () => {
    const waiting = { problem: 'HTTP 503', triedAt: 5000, nextTryAt: 9000 };
    expect(
      receiversOf([
        row({ apId: 'mid://bank.example', host: 'bank.example', problem: 'HTTP 418' }),
        row({ ...waiting, problem: 'HTTP 401' }),
        row(waiting),
        row({ ...waiting, endedAt: 500, nextTryAt: 8000 }),
        row({ ...waiting, state: 'dead', triedAt: 6000 }),
      ]),
    ).toMatchObject([
      {
        ...{ apId, host: 'hooks.shop.example', retried: 3, dead: 1 },
        ...{ oldestAt: 500, triedAt: 6000, nextTryAt: 8000 },
        advice: expect.stringContaining('gateway'),
      },
      { apId: 'mid://bank.example', retried: 1, dead: 0 },
    ]);
    const [{ problems } = { problems: {} }] = receiversOf([
      row({ problem: 'HTTP 401' }),
      row(waiting),
      row(waiting),
    ]);
    expect(Object.entries(problems)).toEqual([
      ['HTTP 503', 2],
      ['HTTP 401', 1],
    ]);
  });

  it.each([
    ['HTTP 401', 'paraph aps secret mid://shop.example'],
    ['HTTP 403', 'paraph aps secret mid://shop.example'],
    ['HTTP 404', 'callback.url'],
    ['HTTP 301', 'Redirects are not followed'],
    ['HTTP 422', 'rejects the message'],
    ['HTTP 500', 'fails itself'],
    ['HTTP 502', 'gateway'],
    ['unreachable: timeout', 'within 10 seconds'],
    ['unreachable: ECONNREFUSED', 'Nothing listens there'],
    ['unreachable: ENOTFOUND', 'resolver'],
    ['unreachable: CERT_HAS_EXPIRED', 'NODE_EXTRA_CA_CERTS'],
    ['unreachable: DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
    ['unreachable: UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'NODE_EXTRA_CA_CERTS'],
    ['unreachable: connection closed', 'network'],
    ['the address of the receiver is not allowed', 'operations.callbackHosts'],
    ['this process knows no callback of the application', 'roll-out'],
  ])('have advice for %s', (problem, advice) => {
    expect(receiversOf([row({ problem })])[0]?.advice).toContain(advice);
  });
});
