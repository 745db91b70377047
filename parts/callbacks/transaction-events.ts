/**
 * The ends of a transaction as events for its application, each with an id of its own.
 *
 * All ends in the job are reported, not only the last one: otherwise the end before a quick replay
 * would be lost. Reporting one twice does no harm, because job and message have the same id again.
 */

import { faultTable, parseFaultLine } from '../../packages/protocol/src/fault.ts';
import {
  endRecordSchema,
  recordIn,
  signatureRecordSchema,
} from '../../src/transactions/contract.ts';
import {
  fieldOf,
  member,
  parsed,
  rowOf,
  type StoredFields,
  type TransactionRow,
} from '../../src/transactions/history/row.ts';
import type { CallbackData } from './callback.machine.ts';

/** An end, and the id of its callback. */
export interface TransactionEvent {
  readonly id: string;
  readonly data: CallbackData;
}

export type EndState = CallbackData['end']['state'];

/** The id of a callback. It has no dot, because the signature covers `id.time.body`. */
export const callbackId = (msspTransId: string, attempt: number, state: EndState): string =>
  `${msspTransId}-${attempt}-${state}`;

/**
 * The id of a failure without an attempt, because no worker could read the job: BullMQ's count of
 * ended runs takes the place of the attempt.
 */
export const unrecordedId = (msspTransId: string, run: number): string =>
  `${msspTransId}-run${run}-failed`;

/** The longest history that is read. Only other programs write longer ones. */
const maxHistory = 1000;

const statusCodeOf = (returnValue: unknown): '100' | '500' | '502' => {
  const { data } = endRecordSchema.safeParse(returnValue);
  if (data?.outcome.kind === 'delivered') return '100';
  return data?.outcome.validated === true ? '502' : '500';
};

const failedEnd = (code: number, reason: string) => ({ state: 'failed', code, reason }) as const;

/** The end as an internal error, for a signature that was not verified. */
export const toInternalError = (told: TransactionEvent): TransactionEvent => {
  const { msspTransId, attempt, end } = told.data;
  if (end.state === 'failed') return told;
  return {
    id: callbackId(msspTransId, attempt, 'failed'),
    data: { ...told.data, end: failedEnd(900, faultTable[900].reason) },
  };
};

/** The current end in BullMQ's fields; undefined while the transaction is open. */
const presentEnd = (row: TransactionRow, returnValue: unknown): CallbackData['end'] | undefined => {
  switch (row.state) {
    case 'submitted':
    case 'pending':
      return undefined;
    case 'failed':
      return failedEnd(row.fault?.code ?? 900, row.fault?.reason ?? faultTable[900].reason);
    case 'signed':
      return { state: 'signed', statusCode: statusCodeOf(returnValue) };
    case 'receipted':
      return { state: 'receipted', receipt: String(member(returnValue, 'receipt') ?? '') };
  }
};

/**
 * @param fields The fields of the job, in the order of `jobFields`.
 * @param since Milliseconds since the epoch; earlier ends are left out.
 * @returns The ends, oldest first.
 */
export const readEvents = (
  msspTransId: string,
  fields: StoredFields,
  isSubscribed: (apId: string) => boolean,
  since: number,
): readonly TransactionEvent[] => {
  const row = rowOf(msspTransId, fields);
  if (row === undefined || row.apId === '' || !isSubscribed(row.apId)) return [];
  const returnValue = parsed(fieldOf(fields, 'returnvalue'));
  const ended = row.endedAt !== undefined;
  const completed = ended && row.state !== 'failed';
  const stored = completed ? returnValue : recordIn(parsed(fieldOf(fields, 'progress')));
  const record = signatureRecordSchema.safeParse(stored).data;
  const about = { msspTransId, apId: row.apId, apTransId: row.apTransId };
  const ends = new Map<string, CallbackData>();

  for (const { state, attempt, at, fault } of (record?.history ?? []).slice(-maxHistory)) {
    const add = (end: CallbackData['end']): void =>
      void ends.set(callbackId(msspTransId, attempt, end.state), { ...about, attempt, at, end });
    if (state === 'failed') {
      const { code } = fault ?? record?.fault ?? { code: 900 as const };
      add(failedEnd(code, faultTable[code].reason));
    } else if (state === 'signed' && completed)
      add({ state, statusCode: statusCodeOf(returnValue) });
    else if (state === 'receipted' && completed) add({ state, receipt: record?.receipt ?? '' });
  }

  const end = presentEnd(row, returnValue);
  if (end !== undefined && row.endedAt !== undefined) {
    const { attempt, endedAt: at } = row;
    const runs = Number(fieldOf(fields, 'atm') ?? 0);
    // Each ended run is an attempt. Where the record lacks it, the worker of the next replay adds
    // it. There are fewer runs than attempts when a tool has reset their count.
    const endsAttempt = runs <= attempt;
    const isOther =
      record?.state === 'failed' &&
      parseFaultLine(fieldOf(fields, 'failedReason') ?? '')?.code !== record.fault?.code;
    const isOfAttempt = end.state !== 'failed' || (endsAttempt && !isOther);
    const id = isOfAttempt
      ? callbackId(msspTransId, attempt, end.state)
      : unrecordedId(msspTransId, runs);
    if (!ends.has(id)) ends.set(id, { ...about, attempt, at, end });
  }
  return [...ends].filter(([, told]) => told.at >= since).map(([id, told]) => ({ id, data: told }));
};
