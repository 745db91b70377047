/** Members that all requests share, what is required of them, and versions. */
import type { Row } from '../row.ts';

export const requestsRows: readonly Row[] = [
  {
    id: 'interface-2.1-1',
    source: 'interface 2.1',
    rule: 'AP_ID is required.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.1-2',
    source: 'interface 2.1',
    rule: 'AP_PWD is optional.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > may be absent or null',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 of the wrong type',
    ],
  },
  {
    id: 'interface-2.1-3',
    source: 'interface 2.1',
    rule: 'AP_TransID, the reference that the application chose, is required.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.1-4',
    source: 'interface 2.1',
    rule: 'Instant of AP_Info is required.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.1-5',
    source: 'interface 2.1',
    rule: 'Instant of AP_Info is an ISO 8601 date-time.',
    tests: [
      'test/http/sign.test.ts › a request > may write its Instant %s',
      'test/http/sign.test.ts › a request > with the Instant %s, without zone or no date-time at all, is fault 101',
    ],
  },
  {
    id: 'interface-2.1-6',
    source: 'interface 2.1',
    rule: 'MSSP_ID is required in MSSP_Info.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.1-7',
    source: 'interface 2.1',
    rule: 'Instant of MSSP_Info, though listed as required, is not needed in a request.',
    tests: [
      'test/conformance/answers.test.ts › a %s request > is answered with MSSP_ID as it was spelled and the time of the answer, with or without an Instant of its own',
      'test/protocol/members.test.ts › %s: %s > may be absent or null',
    ],
  },
  {
    id: 'interface-2.1-8',
    source: 'interface 2.1',
    rule: 'Instant of MSSP_Info is an ISO 8601 date-time where a request has one.',
    tests: [
      'test/http/sign.test.ts › a request > with the Instant %s, without zone or no date-time at all, is fault 101',
      'test/protocol/sign.test.ts › instants > that are none are a fault 101 in both places',
    ],
  },
  {
    id: 'interface-2.1-9',
    source: 'interface 2.1',
    rule: 'URI is required in MSSP_ID.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.1-10',
    source: 'interface 2.1',
    rule: 'URI of MSSP_ID is an identifier URI.',
    tests: ['test/protocol/sign.test.ts › MSSP_ID > is echoed as spelled and must be an absolute URI'],
  },
  {
    id: 'interface-2.1-11',
    source: 'interface 2.1',
    rule: 'MSISDN is required in MobileUser.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.1-12',
    source: 'interface 2.1',
    rule: 'MSISDN is a number in international format with a leading plus.',
    tests: [
      'test/http/sign.test.ts › an answer > repeats the MSISDN as written: %s',
      'test/protocol/sign.test.ts › MSISDN > may be %s',
    ],
  },
  {
    id: 'wire-requests-1',
    source: 'wire facts: requests',
    rule: 'Whatever the interface lists as required has to be there, but for the two exceptions below.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'wire-requests-2',
    source: 'wire facts: requests',
    rule: 'MSSP_Info.Instant is optional in every request.',
    tests: [
      'test/conformance/answers.test.ts › a %s request > is answered with MSSP_ID as it was spelled and the time of the answer, with or without an Instant of its own',
    ],
  },
  {
    id: 'wire-requests-3',
    source: 'wire facts: requests',
    rule: 'Status is optional in a receipt.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > has no ReceiptResponseExtension unless the request asked for it',
      'test/protocol/parse.test.ts › a receipt request > without %s asks for no extension',
    ],
  },
  {
    id: 'wire-requests-4',
    source: 'wire facts: requests',
    rule: 'Members that nobody knows are ignored.',
    tests: [
      'test/conformance/answers.test.ts › a %s request > may hold members that nobody knows, in every object',
      'test/http/sign.test.ts › a request > may hold members that nobody knows',
    ],
  },
  {
    id: 'wire-requests-5',
    source: 'wire facts: requests',
    rule: "A required member that is missing or empty is fault 102, and its Detail is the member's path.",
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'wire-requests-6',
    source: 'wire facts: requests',
    rule: "What is there but cannot be used is fault 101, and its Detail begins with the member's path.",
    tests: [
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
      'test/protocol/sign.test.ts › MessagingMode > that is %j is a fault 101',
      'test/protocol/sign.test.ts › instants > that are none are a fault 101 in both places',
      'test/protocol/sign.test.ts › TimeOut > that is %j is a fault 101',
    ],
  },
  {
    id: 'wire-requests-7',
    source: 'wire facts: requests',
    rule: 'The Detail of a Fault about a member never repeats the value.',
    tests: [
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
      'test/protocol/mutation.test.ts › a spoiled %s request > never throws, and ends well or in a fault of the table that repeats no value',
    ],
  },
  {
    id: 'wire-requests-8',
    source: 'wire facts: requests',
    rule: 'A sign request may be of version 1.2, or of 1.1 from older clients.',
    tests: [
      'test/http/sign.test.ts › a request > of version 1.%s is answered in version 1.1',
      'test/protocol/sign.test.ts › versions > of %s may be %s.%s',
    ],
  },
  {
    id: 'wire-requests-9',
    source: 'wire facts: requests',
    rule: 'Any other version of a sign request is fault 108.',
    tests: ['test/http/sign.test.ts › a request > of version %s.%s is fault 108'],
  },
  {
    id: 'wire-requests-10',
    source: 'wire facts: requests',
    rule: 'Any other version than 1.1 of a status request is fault 108.',
    tests: [
      'test/http/status.test.ts › the status of an asynch request > asked for in version %s.%s is fault 108',
    ],
  },
  {
    id: 'wire-requests-11',
    source: 'wire facts: requests',
    rule: 'Any other version than 1.1 of a receipt request is fault 108.',
    tests: [
      'test/protocol/sign.test.ts › versions > of %s: other values of %s are a fault 108',
      'test/http/receipt.test.ts › a receipt > with a bad %s is refused',
    ],
  },
  {
    id: 'wire-requests-12',
    source: 'wire facts: requests',
    rule: 'Any other version than 2.0 of a profile request is fault 108.',
    tests: ['test/http/profile.test.ts › a profile request > of version %s.%s is fault 108'],
  },
  {
    id: 'wire-requests-13',
    source: 'wire facts: requests',
    rule: 'A sign response says 1.1, whichever version was asked in.',
    tests: ['test/http/sign.test.ts › a request > of version 1.%s is answered in version 1.1'],
  },
  {
    id: 'wire-requests-14',
    source: 'wire facts: requests',
    rule: 'An Instant has a zone.',
    tests: [
      'test/protocol/instant.test.ts › an instant > %j is none',
      'test/http/sign.test.ts › a request > with the Instant %s, without zone or no date-time at all, is fault 101',
    ],
  },
  {
    id: 'wire-requests-15',
    source: 'wire facts: requests',
    rule: 'An Instant may have a fraction of a second or none.',
    tests: [
      'test/protocol/instant.test.ts › an instant > %s is normalised to %s',
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
      'test/protocol/sign.test.ts › MSISDN > may be %s',
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
      'test/http/concurrency.test.ts › a SIM > that is busy shows through status in asynch mode',
    ],
  },
  {
    id: 'wire-requests-24',
    source: 'wire facts: requests',
    rule: 'An MSISDN that is not E.164 is fault 101 with the Detail Illegal msisdn, in every request that has one.',
    tests: [
      'test/protocol/sign.test.ts › MSISDN > that is %j is a fault 101 Illegal msisdn',
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
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'wire-requests-26',
    source: 'wire facts: requests',
    rule: 'An AP_TransID is like an XML NCName.',
    tests: [
      'test/protocol/sign.test.ts › AP_TransID > may be %s',
      'test/protocol/sign.test.ts › AP_TransID > that is %j is a fault 101',
    ],
  },
  {
    id: 'wire-requests-27',
    source: 'wire facts: requests',
    rule: 'An AP_TransID of 39 characters, as real clients send, is accepted.',
    tests: ['test/protocol/sign.test.ts › AP_TransID > may be %s'],
  },
  {
    id: 'interface-9-3',
    source: 'interface 9',
    rule: 'A sign request has the version 1.2.',
    tests: ['test/http/sign.test.ts › a request > of version 1.%s is answered in version 1.1'],
  },
  {
    id: 'interface-9-4',
    source: 'interface 9',
    rule: 'A sign response has the version 1.1.',
    tests: ['test/http/sign.test.ts › a request > of version 1.%s is answered in version 1.1'],
  },
  {
    id: 'interface-9-5',
    source: 'interface 9',
    rule: 'Status requests and responses have the version 1.1.',
    tests: [
      'test/protocol/sign.test.ts › versions > of %s may be %s.%s',
      'test/http/status.test.ts › the status of an asynch request > is then 500 SIGNATURE with signature, MobileUser and ServiceResponses, without MSSP_TransID and SignatureProfile',
    ],
  },
  {
    id: 'interface-9-6',
    source: 'interface 9',
    rule: 'Receipt requests and responses have the version 1.1.',
    tests: [
      'test/protocol/sign.test.ts › versions > of %s may be %s.%s',
      'test/http/receipt.test.ts › the receipt response > repeats AP_Info and MSSP_ID of its request, in version 1.1',
    ],
  },
  {
    id: 'interface-9-7',
    source: 'interface 9',
    rule: 'Profile requests and responses have the version 2.0.',
    tests: [
      'test/protocol/sign.test.ts › versions > of %s may be %s.%s',
      'test/http/profile.test.ts › Params > that are empty give the list of profiles alone',
    ],
  },
  {
    id: 'interface-9-8',
    source: 'interface 9',
    rule: 'Version values are strings.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › a value that is on no list > is a version that is the number %s: fault 101',
      'test/http/recorded.test.ts › is answered as the live server did: %s',
    ],
  },
];
