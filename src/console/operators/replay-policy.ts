/**
 * Decides which failed transactions each role may replay, by the kind of their fault.
 *
 * never                 The request itself is wrong, or the person has no device for it: a replay
 *                       would end the same way.
 * operator              The person has not refused: silence, a device that was away, a block that
 *                       may have been lifted.
 * operator-with-reason  The person has refused. Another prompt needs a reason.
 * admin                 Only an admin; a stricter rule that a configuration may choose.
 *
 * A viewer replays nothing. A login is never replayed: its browser has already shown the failure. A
 * transaction of a workflow is not replayed either: the workflow has gone on, and asks again
 * itself.
 */
import {
  type FaultCode,
  type FaultKind,
  faultCodes,
  faultTable,
  isFaultCode,
} from '../../../packages/protocol/src/fault.ts';
import { isLogin } from '../../registry/login-ap-id.ts';
import { includesRole, type Role } from './operator.ts';

export type ReplayRule = 'never' | 'operator' | 'operator-with-reason' | 'admin';
export type ReplayPolicy = Readonly<Record<FaultCode, ReplayRule>>;

const byKind: Readonly<Record<FaultKind, ReplayRule>> = {
  request: 'never',
  method: 'never',
  refusal: 'operator-with-reason',
  person: 'operator',
  service: 'operator',
};

export const defaultReplayPolicy = Object.fromEntries(
  faultCodes.map((code) => [code, byKind[faultTable[code].kind]]),
) as ReplayPolicy;

/** @param changes The configuration `operations.replay.policy`. */
export const replayPolicy = (
  changes: Readonly<Partial<Record<string, ReplayRule>>> = {},
): ReplayPolicy => ({
  ...defaultReplayPolicy,
  ...changes,
});

interface FailedEnd {
  readonly apId: string;
  readonly code: number;
  /** Whether a workflow has requested the transaction. */
  readonly ofWorkflow: boolean;
}

/**
 * login     It is a login, and its browser no longer waits.
 * workflow  A workflow has requested it, and already has this end.
 * never     This fault is never replayed.
 * role      The operator's role does not allow it.
 * reason    It needs a reason.
 */
export type ReplayRefusal = 'login' | 'workflow' | 'never' | 'role' | 'reason';

/** Whether a text is a reason: not blank, and at most 500 characters. */
export const isReason = (reason: string | undefined): reason is string =>
  reason !== undefined && reason.trim() !== '' && reason.length <= 500;

/** @returns Undefined when it may be replayed. */
export const refusalOf = (
  policy: ReplayPolicy,
  { apId, code, ofWorkflow }: FailedEnd,
  role: Role,
  reason: string | undefined,
): ReplayRefusal | undefined => {
  if (isLogin(apId)) return 'login';
  if (ofWorkflow) return 'workflow';
  const rule = isFaultCode(code) ? policy[code] : 'never';
  if (rule === 'never') return 'never';
  if (!includesRole(role, rule === 'admin' ? 'admin' : 'operator')) return 'role';
  return rule === 'operator-with-reason' && !isReason(reason) ? 'reason' : undefined;
};
