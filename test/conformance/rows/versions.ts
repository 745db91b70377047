/** Versions of requests and answers. */
import type { Row } from '../row.ts';

export const versionsRows: readonly Row[] = [
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
      'packages/protocol/test/sign.test.ts › versions > of %s may be %s.%s',
      'test/http/status.test.ts › the status of an asynch request > is then 500 SIGNATURE with signature, MobileUser and ServiceResponses, without MSSP_TransID and SignatureProfile',
    ],
  },
  {
    id: 'interface-9-6',
    source: 'interface 9',
    rule: 'Receipt requests and responses have the version 1.1.',
    tests: [
      'packages/protocol/test/sign.test.ts › versions > of %s may be %s.%s',
      'test/http/receipt.test.ts › the receipt response > repeats AP_Info and MSSP_ID of its request, in version 1.1',
    ],
  },
  {
    id: 'interface-9-7',
    source: 'interface 9',
    rule: 'Profile requests and responses have the version 2.0.',
    tests: [
      'packages/protocol/test/sign.test.ts › versions > of %s may be %s.%s',
      'test/http/profile.test.ts › Params > that are empty give the list of profiles alone',
    ],
  },
  {
    id: 'interface-9-8',
    source: 'interface 9',
    rule: 'Version values are strings.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › a value that is on no list > is a version that is the number %s: fault 101',
      'test/http/recorded.test.ts › is answered as the live server did: %s',
    ],
  },
  {
    id: 'wire-requests-8',
    source: 'wire facts: requests',
    rule: 'A sign request may be of version 1.2, or of 1.1 from older clients.',
    tests: [
      'test/http/sign.test.ts › a request > of version 1.%s is answered in version 1.1',
      'packages/protocol/test/sign.test.ts › versions > of %s may be %s.%s',
    ],
  },
  {
    id: 'wire-requests-9',
    source: 'wire facts: requests',
    rule: 'Any other version of a sign request is fault 108.',
    tests: [
      'test/conformance/versions.test.ts › in a %s request, %s alone > that is %s is fault 108, which tells the versions expected',
      'test/http/sign.test.ts › a request > of version %s.%s is fault 108',
    ],
  },
  {
    id: 'wire-requests-10',
    source: 'wire facts: requests',
    rule: 'Any other version than 1.1 of a status request is fault 108.',
    tests: [
      'test/conformance/versions.test.ts › in a %s request, %s alone > that is %s is fault 108, which tells the versions expected',
      'test/http/status.test.ts › the status of an asynch request > asked for in version %s.%s is fault 108',
    ],
  },
  {
    id: 'wire-requests-11',
    source: 'wire facts: requests',
    rule: 'Any other version than 1.1 of a receipt request is fault 108.',
    tests: [
      'test/conformance/versions.test.ts › in a %s request, %s alone > that is %s is fault 108, which tells the versions expected',
      'packages/protocol/test/sign.test.ts › versions > of %s: other values of %s are a fault 108',
      'test/http/receipt.test.ts › a receipt > with a bad %s is refused',
    ],
  },
  {
    id: 'wire-requests-12',
    source: 'wire facts: requests',
    rule: 'Any other version than 2.0 of a profile request is fault 108.',
    tests: [
      'test/conformance/versions.test.ts › in a %s request, %s alone > that is %s is fault 108, which tells the versions expected',
      'test/http/profile.test.ts › a profile request > of version %s.%s is fault 108',
    ],
  },
  {
    id: 'wire-requests-13',
    source: 'wire facts: requests',
    rule: 'A sign response says 1.1, whichever version was asked in.',
    tests: ['test/http/sign.test.ts › a request > of version 1.%s is answered in version 1.1'],
  },
];
