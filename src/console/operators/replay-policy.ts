/**
 * Decides which failed transactions each role may replay, by the fault of the transaction.
 *
 * never                 The request itself is wrong: a replay would end the same way.
 * operator              The person has not refused: silence, a device that was away, a block that
 *                       may have been lifted.
 * operator-with-reason  The person has refused. Another prompt needs a reason.
 * admin                 Only an admin; a stricter rule that a configuration may choose.
 *
 * A viewer replays nothing. A login is never replayed: its browser has already shown the failure. A
 * transaction of a workflow is not replayed either: the workflow has gone on, and asks again
 * itself.
 */
import { type FaultCode, isFaultCode } from '../../../packages/protocol/src/fault.ts';
import { isLogin } from '../../registry/login-ap-id.ts';
import { includesRole, type Role } from './operator.ts';

export type ReplayRule = 'never' | 'operator' | 'operator-with-reason' | 'admin';
export type ReplayPolicy = Readonly<Record<FaultCode, ReplayRule>>;

export const defaultReplayPolicy: ReplayPolicy = {
  101: 'never',
  102: 'never',
  103: 'never',
  104: 'never',
  105: 'never',
  107: 'never',
  108: 'never',
  109: 'never',
  208: 'operator',
  209: 'operator',
  401: 'operator-with-reason',
  402: 'operator',
  403: 'operator',
  404: 'operator',
  406: 'operator',
  422: 'operator',
  450: 'operator',
  900: 'operator',
};

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
