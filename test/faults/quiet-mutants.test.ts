/** These break or keep rules about time, so they need a machine without other work. */
import { testMutants } from './catch-mutants.ts';

testMutants([
  ['recheck', { 'no-recheck': 'an answer is taken or refused at once' }],
  [
    'silence',
    {
      'no-silence': 'an API gives up silent connections within 5 s',
      'no-not-after': 'what was refused does not run',
    },
  ],
  ['turns', { 'no-turns': 'applications are served in turn' }],
  [
    'heal',
    {
      'slow-turns': 'every transaction ends in time',
      'early-acceptance': 'what was acknowledged is never lost',
    },
  ],
  // `no-timers` is found only where a killed worker held an instance, so it is for longer runs.
  ['processes', { 'no-order': 'steps end as they are defined' }],
  ['mails', { 'mails-once': 'every mail is sent' }],
  ['logins', { 'codes-again': 'logins give the right tokens, once' }],
]);
