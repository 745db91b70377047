/**
 * Redacts personal data by role: a viewer sees the end of the number and no text, an operator sees
 * both. No role sees signatures, which only the application gets, or one-time passwords, which are
 * secret while they are valid.
 */

import type { BulkOrder } from '../../machines/bulk-replay.machine.ts';
import { faultTable, isFaultCode } from '../../packages/protocol/src/fault.ts';
import { isOneTimePassword, type ProfileName } from '../../packages/protocol/src/requests.ts';
import type { TransactionRow } from '../transactions/history/row.ts';
import { includesRole, type Role } from './operators/operator.ts';
import type { ReplayPlan } from './operators/transaction-bulk.ts';

export const seesPeople = (role: Role): boolean => includesRole(role, 'operator');

/** Whether the text of a request is a secret itself. */
export const isSecretText = (profile: ProfileName | undefined): boolean =>
  profile !== undefined && isOneTimePassword(profile);

/** Digits that a viewer sees: enough to distinguish rows, too few to call the person. */
const shownDigits = 3;

export const shortNumber = (msisdn: string): string =>
  msisdn === '' ? '' : `…${msisdn.slice(-shownDigits)}`;

/** @param msisdn Digits without the plus sign, like in rows. */
export const shownNumber = (role: Role, msisdn: string): string => {
  if (!seesPeople(role)) return shortNumber(msisdn);
  return msisdn === '' ? '' : `+${msisdn}`;
};

export interface ShownFault {
  readonly code: number;
  readonly reason: string;
  /** The detail, which may quote a person. A viewer does not get it. */
  readonly detail?: string;
}

export interface ShownRow extends Omit<TransactionRow, 'fault'> {
  readonly fault?: ShownFault;
}

/** @param reveal False hides details that may quote a person. */
export const shownFault = (
  role: Role,
  {
    code,
    reason,
    detail,
  }: { readonly code: number; readonly reason: string; readonly detail: string },
  reveal = true,
): ShownFault => {
  const isOurs = isFaultCode(code) && detail === faultTable[code].detail;
  return {
    code,
    reason,
    ...(seesPeople(role) && { detail: reveal || isOurs ? detail : 'hidden' }),
  };
};

/** @param reveal False shortens the number for operators, too. */
export const shownRow = (
  role: Role,
  { fault, msisdn, ...row }: TransactionRow,
  reveal = true,
): ShownRow => ({
  ...row,
  msisdn: reveal ? shownNumber(role, msisdn) : shortNumber(msisdn),
  ...(fault !== undefined && { fault: shownFault(role, fault, reveal) }),
});

export const shownPlan = (role: Role, { first, ...plan }: ReplayPlan) => ({
  ...plan,
  first: first.map((row) => shownRow(role, row)),
});
export type ShownPlan = ReturnType<typeof shownPlan>;

/** A bulk. Its reason is free text, which may name a person, and so may its event. */
export const shownBulk = <T extends Pick<BulkOrder, 'reason' | 'event'>>(
  role: Role,
  bulk: T,
): object => {
  const { reason, event, ...rest } = bulk;
  if (seesPeople(role)) return bulk;
  return { ...rest, ...(event && { event: { type: event.type } }) };
};
