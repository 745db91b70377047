/** The numbers that developers of applications know by heart. */
import type { Row } from '../row.ts';

export const testUsersRows: readonly Row[] = [
  {
    id: 'wire-test-users-1',
    source: 'wire facts: test users',
    rule: 'The test users exist in the configuration that a fresh installation starts with.',
    tests: [
      'test/registry/subscribers.test.ts › the subscriber registry > knows the test users in a sandbox only',
      'test/configuration/load.test.ts › a configuration > is a sandbox without a file, and with one only if that says so',
    ],
  },
  {
    id: 'wire-test-users-2',
    source: 'wire facts: test users',
    rule: '41700092501 is a robot with an EC P-256 key on a SIM.',
    tests: [
      'test/http/signature.test.ts › the signature of the robot %s > is made with a key of its kind, certified for three years',
      'test/registry/subscribers.test.ts › the test users > have robots with an EC and an RSA SIM that can be located in Switzerland',
    ],
  },
  {
    id: 'wire-test-users-3',
    source: 'wire facts: test users',
    rule: '41700092502 is a robot with an RSA-2048 key on a SIM.',
    tests: [
      'test/http/signature.test.ts › the signature of the robot %s > is made with a key of its kind, certified for three years',
      'test/registry/subscribers.test.ts › the test users > have robots with an EC and an RSA SIM that can be located in Switzerland',
    ],
  },
  {
    id: 'wire-test-users-4',
    source: 'wire facts: test users',
    rule: '41000092NNN answers with fault NNN, for each code of the table.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/faults.test.ts › the test number of %i > faults with it at receipt and profile',
    ],
  },
  {
    id: 'wire-test-users-5',
    source: 'wire facts: test users',
    rule: '41000000000 is the health-check number: always fault 101 Illegal msisdn.',
    tests: ['test/http/faults.test.ts › the health-check number > %s is always fault 101 Illegal msisdn'],
  },
  {
    id: 'wire-test-users-6',
    source: 'wire facts: test users',
    rule: 'Test numbers may be written with a plus or without.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/sign.test.ts › an answer > repeats the MSISDN as written: %s',
    ],
  },
  {
    id: 'wire-test-users-7',
    source: 'wire facts: test users',
    rule: 'Dashes in a number are for documents: in a request they make it no E.164 number.',
    tests: [
      'test/http/sign.test.ts › a request > with the MSISDN %s, not E.164, is fault 101 Illegal msisdn',
    ],
  },
];
