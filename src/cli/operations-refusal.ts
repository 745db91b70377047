/** What an operator asked for and did not get, in words. Nothing has happened then. */
import type { Report } from './context.ts';
import type { Outcome } from './exit-codes.ts';

/** By the outcome: `usage` is what can never be right, `refused` what is not allowed or too late. */
const refusals = {
  unknown: ['unknown', 'There is no such transaction, or its retention is over.'],
  'not-failed': ['refused', 'It has not failed, or somebody was quicker: there is nothing to replay.'],
  login: ['refused', 'It is a login, which is never replayed: nobody waits for it any more.'],
  never: [
    'refused',
    'Its fault is one that a replay would only repeat; the policy (operations.replay.policy) refuses it.',
  ],
  role: ['refused', 'The policy does not allow it to this operator.'],
  reason: ['refused', 'It needs a reason of at most 500 characters: --reason.'],
  'too-many': ['refused', 'This number has been prompted often enough just now. Try again in a minute.'],
  nothing: ['refused', 'No failed transaction that may be replayed is found by this.'],
  rate: ['usage', '--rate must be more than 0 and at most 1000.'],
  'too-late': ['refused', 'It is too late: it has ended, or somebody has answered.'],
  'unknown-bulk': ['unknown', 'There is no such bulk replay, or its report has expired.'],
  'not-running': ['refused', 'That bulk replay is not running.'],
  'unknown-callback': ['unknown', 'There is no such callback, or its retention is over.'],
  'not-dead': ['refused', 'It has been delivered, or will be tried again by itself.'],
  'nothing-dead': ['refused', 'No dead callback is found by this.'],
  'unknown-user': ['unknown', 'There is no such user.'],
  'unknown-token': ['unknown', 'There is no such token.'],
  'too-many-tokens': ['refused', 'That user has as many tokens as anybody may have: revoke one first.'],
  configured: ['refused', 'That user stands in the configuration file and is changed there.'],
  exists: ['refused', 'There is such a user already, or somebody with that subject.'],
  'bad-name': [
    'usage',
    'A name has 1 to 64 lower-case letters, digits, ., _, @ or -, and is not one of the service’s own.',
  ],
  'bad-password': ['usage', 'A password must have at least 12 characters and at most 1024 bytes.'],
  'bad-subject': ['usage', '--oidc-subject must have 1 to 255 characters.'],
  'no-way-in': ['usage', 'A user needs a password, or a phone: --msisdn or --oidc-subject.'],
} as const satisfies Record<string, readonly [Outcome, string]>;

export type Refusal = keyof typeof refusals;

/** `refused` in the JSON names it for scripts. */
export const refusal = (refused: Refusal, document: object = {}): Report => {
  const [outcome, problem] = refusals[refused];
  return { outcome, document: { ...document, refused }, problem };
};
