/**
 * What of a person each role sees: a viewer the end of a number and no text, an operator all of it. Signatures are nobody's
 * business here; whoever asked for one fetches it as an application provider.
 */
import type { TransactionRow } from '../history/row.ts';
import { includesRole, type Role } from '../operators/operator.ts';

export const seesPeople = (role: Role): boolean => includesRole(role, 'operator');

/** Enough to tell two rows apart, too little to call anybody. */
const shownDigits = 3;

export const shortNumber = (msisdn: string): string =>
  msisdn === '' ? '' : `…${msisdn.slice(-shownDigits)}`;

/** @param msisdn Digits without the plus sign, as rows have them. */
export const shownNumber = (role: Role, msisdn: string): string => {
  if (!seesPeople(role)) return shortNumber(msisdn);
  return msisdn === '' ? '' : `+${msisdn}`;
};

export interface ShownFault {
  readonly code: number;
  readonly reason: string;
  /** May quote what somebody wrote, so a viewer does not get it. */
  readonly detail?: string;
}

export interface ShownRow extends Omit<TransactionRow, 'fault'> {
  readonly fault?: ShownFault;
}

export const shownFault = (
  role: Role,
  { code, reason, detail }: { readonly code: number; readonly reason: string; readonly detail: string },
): ShownFault => ({ code, reason, ...(seesPeople(role) && { detail }) });

export const shownRow = (role: Role, { fault, msisdn, ...row }: TransactionRow): ShownRow => ({
  ...row,
  msisdn: shownNumber(role, msisdn),
  ...(fault !== undefined && { fault: shownFault(role, fault) }),
});
