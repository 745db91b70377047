/** What an operator asked for and did not get, in words. Nothing has happened then. */
import type { Report } from './context.ts';

const words = {
  unknown: 'There is no such transaction, or its retention is over.',
  'not-failed': 'It has not failed, or somebody was quicker: there is nothing to replay.',
  never:
    'Its fault is one that a replay would only repeat; the policy (operations.replay.policy) refuses it.',
  role: 'The policy does not allow it to this operator.',
  reason: 'It needs a reason of at most 500 characters: --reason.',
  'too-many': 'This number has been prompted often enough just now. Try again in a minute.',
  nothing: 'No failed transaction that may be replayed is found by this.',
  rate: '--rate must be more than 0 and at most 1000.',
  'too-late': 'It is too late: it has ended, or somebody has answered.',
  'unknown-bulk': 'There is no such bulk replay, or its report has expired.',
  'not-running': 'That bulk replay is not running.',
  'unknown-user': 'There is no such user.',
  'unknown-token': 'There is no such token.',
  configured: 'That user stands in the configuration file and is changed there.',
  exists: 'There is such a user already, or somebody with that subject.',
  'bad-name':
    'A name has 1 to 64 lower-case letters, digits, ., _, @ or -, and is not one of the service’s own.',
  'bad-password': 'A password must have at least 12 characters and at most 1024 bytes.',
  'bad-subject': '--oidc-subject must have 1 to 255 characters.',
  'no-way-in': 'A user needs a password or --oidc-subject.',
} as const satisfies Record<string, string>;

export type Refusal = keyof typeof words;

/** `refused` in the JSON names it for scripts. */
export const refusal = (refused: Refusal, document: object = {}): Report => ({
  outcome: 'usage',
  document: { ...document, refused },
  problem: words[refused],
});
