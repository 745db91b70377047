/**
 * Who calls whom and when: Instant, AP_Info, MSSP_Info, MSISDN and AP_TransID, and how answers
 * repeat them.
 */
import type { Row } from '../row.ts';

export const callerRows: readonly Row[] = [
  {
    id: 'wire-requests-14',
    source: 'wire facts: requests',
    rule: 'An Instant has a zone.',
    tests: [
      'packages/protocol/test/instant.test.ts › an instant > %j is none',
      'test/http/sign.test.ts › a request > with the Instant %s, without zone or no date-time at all, is fault 101',
    ],
  },
  {
    id: 'wire-requests-15',
    source: 'wire facts: requests',
    rule: 'An Instant may have a fraction of a second or none.',
    tests: [
      'packages/protocol/test/instant.test.ts › an instant > %s is normalised to %s',
      'test/http/sign.test.ts › a request > may write its Instant %s',
    ],
  },
  {
    id: 'wire-requests-16',
    source: 'wire facts: requests',
    rule: 'Answers repeat the Instant of AP_Info in UTC, with three decimals and Z.',
    tests: [
      'test/conformance/answers.test.ts › a %s request > is answered with its own AP_ID, AP_TransID and Instant, normalised to UTC, and never with AP_PWD',
      'test/http/sign.test.ts › a request > may write its Instant %s',
    ],
  },
  {
    id: 'wire-requests-17',
    source: 'wire facts: requests',
    rule: 'AP_Info of an answer is AP_ID, AP_TransID and Instant of the very request that it answers.',
    tests: [
      'test/conformance/answers.test.ts › a %s request > is answered with its own AP_ID, AP_TransID and Instant, normalised to UTC, and never with AP_PWD',
      'test/http/status.test.ts › the status of an asynch request > repeats AP_Info and MSSP_ID of the status request, not of the sign request',
    ],
  },
  {
    id: 'wire-requests-18',
    source: 'wire facts: requests',
    rule: 'AP_PWD is in no answer.',
    tests: [
      'test/conformance/answers.test.ts › a %s request > is answered with its own AP_ID, AP_TransID and Instant, normalised to UTC, and never with AP_PWD',
    ],
  },
  {
    id: 'wire-requests-19',
    source: 'wire facts: requests',
    rule: 'MSSP_Info of an answer repeats MSSP_ID as the request spelled it.',
    tests: [
      'test/conformance/answers.test.ts › a %s request > is answered with MSSP_ID as it was spelled and the time of the answer, with or without an Instant of its own',
    ],
  },
  {
    id: 'wire-requests-20',
    source: 'wire facts: requests',
    rule: 'MSSP_Info.Instant of an answer is the time of the answer.',
    tests: [
      'test/conformance/answers.test.ts › a %s request > is answered with MSSP_ID as it was spelled and the time of the answer, with or without an Instant of its own',
    ],
  },
  {
    id: 'wire-requests-21',
    source: 'wire facts: requests',
    rule: 'An MSISDN is E.164, and its plus sign is optional.',
    tests: [
      'packages/protocol/test/sign.test.ts › MSISDN > may be %s',
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'wire-requests-22',
    source: 'wire facts: requests',
    rule: 'An MSISDN is repeated as it was written.',
    tests: [
      'test/http/sign.test.ts › an answer > repeats the MSISDN as written: %s',
      'test/http/status.test.ts › the status of an asynch request > is 504 OUTSTANDING_TRANSACTION until the user has acted, then the Fault of what the user did',
    ],
  },
  {
    id: 'wire-requests-23',
    source: 'wire facts: requests',
    rule: 'MSISDNs are compared without the plus sign.',
    tests: [
      'test/http/receipt.test.ts › a receipt > may follow an asynch signature, with the MSISDN in the other spelling and any text for a Language',
      'test/http/concurrency.e2e.test.ts › a SIM > that is busy shows through status in asynch mode',
    ],
  },
  {
    id: 'wire-requests-24',
    source: 'wire facts: requests',
    rule: 'An MSISDN that is not E.164 is fault 101 with the Detail Illegal msisdn, in every request that has one.',
    tests: [
      'packages/protocol/test/sign.test.ts › MSISDN > that is %j is a fault 101 Illegal msisdn',
      'test/http/sign.test.ts › a request > with the MSISDN %s, not E.164, is fault 101 Illegal msisdn',
    ],
  },
  {
    id: 'wire-requests-25',
    source: 'wire facts: requests',
    rule: 'An AP_TransID has 1 to 64 characters.',
    tests: [
      'test/http/sign.test.ts › a request > may have an AP_TransID of 64 characters',
      'test/http/sign.test.ts › a request > with the AP_TransID %s, too long or no name, is fault 101',
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'wire-requests-26',
    source: 'wire facts: requests',
    rule: 'An AP_TransID is an XML NCName of ASCII characters; one that begins with a digit or has a colon, as clients in use send, passes too.',
    tests: [
      'packages/protocol/test/sign.test.ts › AP_TransID > may be the NCName %s',
      'packages/protocol/test/sign.test.ts › AP_TransID > may be %s, which is no NCName',
      'packages/protocol/test/sign.test.ts › AP_TransID > that is %j is a fault 101',
    ],
  },
  {
    id: 'wire-requests-27',
    source: 'wire facts: requests',
    rule: 'An AP_TransID of 39 characters, as real clients send, is accepted.',
    tests: ['packages/protocol/test/sign.test.ts › AP_TransID > may be the NCName %s'],
  },
];
