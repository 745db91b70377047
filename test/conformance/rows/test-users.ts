/** The numbers that developers of applications know by heart. */
import type { Row } from '../row.ts';

export const testUsersRows: readonly Row[] = [
  {
    id: 'wire-test-users-1',
    source: 'wire facts: test users',
    rule: 'The test users exist in the configuration that a fresh installation starts with.',
    tests: [
      'test/registry/subscribers.test.ts › the subscriber registry > knows the test users in a sandbox only',
      'test/app/configuration/load.test.ts › a configuration > is a sandbox without a file, and with one only if that says so',
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
    rule: '41000000000 is the health-check number: for every known application fault 101 Illegal msisdn, also outside of a sandbox and before any other rule.',
    tests: [
      'test/http/faults.test.ts › the health-check number > %s is always fault 101 Illegal msisdn',
      'test/http/application-provider.test.ts › an AP > gets 101 Illegal msisdn for the health-check number, whatever it may do, and 104 when unknown',
      'test/registry/subscribers.test.ts › the subscriber registry > knows the health-check number in and out of a sandbox, whatever is configured for it',
    ],
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
  {
    id: 'interface-5.6-1',
    source: 'interface 5.6',
    rule: 'A client may name a test number in login_hint only if it is authorised for that.',
    tests: [
      'test/oauth/par/push.test.ts › a test number > may be named by a client that is allowed to',
      'test/oauth/par/push.test.ts › a request is refused > when %s',
      'test/oauth/interaction/numbers.test.ts › an offer > is empty for a client that may not name numbers',
    ],
  },
  {
    id: 'interface-5.6-2',
    source: 'interface 5.6',
    rule: 'A test number counts only in a request that was pushed.',
    tests: [
      'test/oauth/interaction/numbers.test.ts › an offer > has test numbers only out of pushed requests',
    ],
  },
  {
    id: 'interface-5.6-3',
    source: 'interface 5.6',
    rule: 'There are two robots on a SIM that sign as anybody does, one with an EC key and one with an RSA key.',
    tests: [
      'test/registry/subscribers.test.ts › the test users > have robots with an EC and an RSA SIM that can be located in Switzerland',
      'test/oauth/interaction/login.e2e.test.ts › a login at the browser > goes from the client to the phone and back, and gives tokens about the person',
    ],
  },
  {
    id: 'interface-5.6-4',
    source: 'interface 5.6',
    rule: 'There are simulated users for the errors 401, 402, 403, 404 and 406.',
    tests: [
      'test/registry/subscribers.test.ts › the test users > have a number that ends with %s and faults with it',
      'test/oauth/interaction/login.e2e.test.ts › a login that fails > with %s tells the person why, and the client %s with %s',
    ],
  },
];
