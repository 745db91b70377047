/** The events of a transaction, from the fields of its job. */
import { describe, expect, it } from 'vitest';
import { type FaultCode, fault, faultLine } from '../../../packages/protocol/src/fault.ts';
import { newMsspTransId } from '../../../src/transactions/ids.ts';
import { messageOf } from '../deliver.ts';
import { readEvents } from '../transaction-events.ts';

const id = newMsspTransId(0);
const MSS_SignatureReq = {
  AP_Info: { AP_ID: 'shop', AP_TransID: 'T-1' },
  MobileUser: { MSISDN: '+41700092501' },
  DataToBeSigned: { Data: 'Pay?' },
};

interface JobParts {
  readonly transaction?: object;
  readonly runs?: number;
  readonly finishedOn?: number;
  readonly failed?: FaultCode;
  readonly result?: unknown;
}

/** The fields of a job, in the order of `jobFields`. */
const fieldsOf = ({ transaction, runs = 1, finishedOn, failed, result }: JobParts) => [
  JSON.stringify({ MSS_SignatureReq }),
  '1000',
  finishedOn === undefined ? null : String(finishedOn),
  String(runs),
  failed === undefined ? null : faultLine(fault(failed, 'said by +41700092501')),
  result === undefined ? null : JSON.stringify(result),
  transaction === undefined ? null : JSON.stringify({ version: 1, context: transaction }),
];

const entry = (state: string, attempt: number, at: number, code?: FaultCode) => ({
  state,
  attempt,
  at,
  ...(code !== undefined && { fault: fault(code) }),
});
const record = (state: string, attempt: number, history: readonly object[], more: object = {}) => ({
  version: 1,
  state,
  attempt,
  deadline: 99_000,
  history,
  ...more,
});

const told = (parts: JobParts, since = 0) =>
  readEvents(id, fieldsOf(parts), (apId) => apId === 'shop', since);
const names = (parts: JobParts, since = 0) => told(parts, since).map((end) => end.id);

const cms = { kind: 'signature', cms: '' };

describe('the ends of a transaction', () => {
  it('are none while it is open', () => {
    expect(told({ runs: 0 })).toEqual([]);
    expect(
      told({ transaction: record('pending', 1, [entry('submitted', 1, 1000)]), runs: 0 }),
    ).toEqual([]);
  });

  it('are none for others than those who want to hear of them', () => {
    const fields = fieldsOf({ finishedOn: 2000, failed: 101 });
    expect(readEvents(id, fields, () => false, 0)).toEqual([]);
    expect(readEvents(id, [null, null, null, null, null, null], () => true, 0)).toEqual([]);
    expect(
      readEvents(id, ['{"a', '1', '2', '_401 USER_CANCEL: x', null, '1'], () => true, 0),
    ).toEqual([]);
  });

  it('are all that it has had, oldest first', () => {
    const history = [
      entry('submitted', 1, 1000),
      entry('failed', 1, 1500, 209),
      entry('submitted', 2, 2000),
      entry('failed', 2, 2500, 208),
      entry('submitted', 3, 3000),
      entry('pending', 3, 3000),
      entry('signed', 3, 3500),
      entry('receipted', 3, 4000),
    ];
    const result = record('receipted', 3, history, { outcome: cms, receipt: 'accepted' });
    const parts = { transaction: record('failed', 2, []), runs: 3, finishedOn: 3500, result };
    expect(names(parts)).toEqual([
      `${id}-1-failed`,
      `${id}-2-failed`,
      `${id}-3-signed`,
      `${id}-3-receipted`,
    ]);
    expect(told(parts)[1]?.data).toEqual({
      msspTransId: id,
      apId: 'shop',
      apTransId: 'T-1',
      attempt: 2,
      at: 2500,
      end: { state: 'failed', code: 208, reason: 'EXPIRED_TRANSACTION' },
    });
    expect(names(parts, 2501)).toEqual([`${id}-3-signed`, `${id}-3-receipted`]);
  });

  it('are known of one that is run again and still open', () => {
    const history = [entry('submitted', 1, 1000), entry('failed', 1, 1500, 401)];
    const transaction = record('failed', 1, history, { fault: fault(401) });
    expect(names({ transaction, runs: 1 })).toEqual([`${id}-1-failed`]);
  });

  it.each([
    [{ ...cms }, '500'],
    [{ ...cms, validated: true }, '502'],
    [{ kind: 'delivered' }, '100'],
  ])('say of %j the status code %s', (outcome, statusCode) => {
    const result = record('signed', 1, [entry('signed', 1, 1500)], { outcome });
    expect(told({ finishedOn: 1500, result })).toMatchObject([
      { data: { end: { state: 'signed', statusCode } } },
    ]);
  });

  it('are told apart when no worker could write them down', () => {
    expect(names({ finishedOn: 2000, failed: 101, runs: 1 })).toEqual([`${id}-1-failed`]);
    expect(names({ finishedOn: 2000, failed: 101, runs: 2 })).toEqual([`${id}-run2-failed`]);
    const transaction = record('failed', 1, [entry('failed', 1, 1500, 401)], { fault: fault(401) });
    expect(names({ transaction, finishedOn: 1500, failed: 401, runs: 1 })).toEqual([
      `${id}-1-failed`,
    ]);
    expect(names({ transaction, finishedOn: 9000, failed: 900, runs: 2 })).toEqual([
      `${id}-1-failed`,
      `${id}-run2-failed`,
    ]);
  });

  it('are told once, also when the worker that takes a replay writes down what nobody had', () => {
    const asked = [entry('submitted', 1, 1000), entry('pending', 1, 1100)];
    const before = names({
      transaction: record('pending', 1, asked),
      finishedOn: 2000,
      failed: 900,
    });
    const replayed = [...asked, entry('failed', 1, 9000, 900), entry('submitted', 2, 9000)];
    const after = { transaction: record('submitted', 2, replayed) };
    expect(before).toEqual([`${id}-1-failed`]);
    expect(names(after)).toEqual(before);
    expect(names({ ...after, runs: 2, finishedOn: 9500, failed: 900 })).toEqual([
      `${id}-1-failed`,
      `${id}-2-failed`,
    ]);
  });

  it('are told of records of a later release as far as they can be read', () => {
    const result = { version: 2, state: 'signed', attempt: 1, outcome: cms };
    expect(told({ finishedOn: 1500, result })).toMatchObject([
      { id: `${id}-1-signed`, data: { at: 1500 } },
    ]);
  });
});

describe('a message', () => {
  it('holds nothing that a person has written, or was shown, or is called by', () => {
    const [end] = told({ finishedOn: 2000, failed: 401 });
    expect(end && JSON.parse(messageOf(end.data))).toEqual({
      type: 'transaction.failed',
      timestamp: '1970-01-01T00:00:02.000Z',
      data: {
        AP_ID: 'shop',
        AP_TransID: 'T-1',
        MSSP_TransID: id,
        attempt: 1,
        fault: { code: '_401', reason: 'USER_CANCEL' },
      },
    });
  });
});
