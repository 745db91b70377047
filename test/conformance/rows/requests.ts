/** Members that all requests share, and what is required of any member. */
import type { Row } from '../row.ts';

export const requestsRows: readonly Row[] = [
  {
    id: 'interface-2.1-1',
    source: 'interface 2.1',
    rule: 'AP_ID is required.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.1-2',
    source: 'interface 2.1',
    rule: 'AP_PWD is optional.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > may be absent or null',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 of the wrong type',
    ],
  },
  {
    id: 'interface-2.1-3',
    source: 'interface 2.1',
    rule: 'AP_TransID, the reference that the application chose, is required.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.1-4',
    source: 'interface 2.1',
    rule: 'Instant of AP_Info is required.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
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
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.1-7',
    source: 'interface 2.1',
    rule: 'Instant of MSSP_Info, though listed as required, is not needed in a request.',
    tests: [
      'test/conformance/answers.test.ts › a %s request > is answered with MSSP_ID as it was spelled and the time of the answer, with or without an Instant of its own',
      'packages/protocol/test/members.test.ts › %s: %s > may be absent or null',
    ],
  },
  {
    id: 'interface-2.1-8',
    source: 'interface 2.1',
    rule: 'Instant of MSSP_Info is an ISO 8601 date-time where a request has one.',
    tests: [
      'test/http/sign.test.ts › a request > with the Instant %s, without zone or no date-time at all, is fault 101',
      'packages/protocol/test/sign.test.ts › instants > that are none are a fault 101 in both places',
    ],
  },
  {
    id: 'interface-2.1-9',
    source: 'interface 2.1',
    rule: 'URI is required in MSSP_ID.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.1-10',
    source: 'interface 2.1',
    rule: 'URI of MSSP_ID is an identifier URI.',
    tests: [
      'packages/protocol/test/sign.test.ts › MSSP_ID > is echoed as spelled and must be an absolute URI',
    ],
  },
  {
    id: 'interface-2.1-11',
    source: 'interface 2.1',
    rule: 'MSISDN is required in MobileUser.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.1-12',
    source: 'interface 2.1',
    rule: 'MSISDN is a number in international format with a leading plus, which answers keep; against that a number without it is served, too, as clients in use send.',
    tests: [
      'packages/protocol/test/sign.test.ts › MSISDN > with its leading plus is in international format, and means the number without it',
      'test/http/sign.test.ts › an answer > repeats the MSISDN as written: %s',
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'wire-requests-1',
    source: 'wire facts: requests',
    rule: 'Whatever the interface lists as required has to be there, but for MSSP_Info.Instant and the Status of a receipt.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
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
      'packages/protocol/test/parse.test.ts › a receipt request > without %s asks for no extension',
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
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'wire-requests-6',
    source: 'wire facts: requests',
    rule: "What is there but cannot be used is fault 101, and its Detail begins with the member's path.",
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
      'packages/protocol/test/sign.test.ts › MessagingMode > that is %j is a fault 101',
      'packages/protocol/test/sign.test.ts › instants > that are none are a fault 101 in both places',
      'packages/protocol/test/sign.test.ts › TimeOut > that is %j is a fault 101',
    ],
  },
  {
    id: 'wire-requests-7',
    source: 'wire facts: requests',
    rule: 'The Detail of a Fault about a member never repeats the value.',
    tests: [
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
      'packages/protocol/test/mutation.test.ts › a spoiled %s request > never throws, and ends well or in a fault of the table that repeats no value',
    ],
  },
];
