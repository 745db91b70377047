/** The receipt operation: its request and its response. */
import type { Row } from '../row.ts';

export const receiptRows: readonly Row[] = [
  {
    id: 'interface-2.1-27',
    source: 'interface 2.1',
    rule: "MimeType, Encoding and Data are required in a receipt's Message.",
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.1-28',
    source: 'interface 2.1',
    rule: "MimeType, Encoding and Data of a receipt's Message mean what they mean in DataToBeSigned.",
    tests: [
      'packages/protocol/test/parse.test.ts › a receipt request > with a wrong %s is refused',
      'test/http/receipt.test.ts › a receipt > with a bad %s is refused',
    ],
  },
  {
    id: 'interface-2.3-1',
    source: 'interface 2.3',
    rule: 'StatusCode with its Value is required in the Status of a receipt request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.3-2',
    source: 'interface 2.3',
    rule: 'StatusCode.Value of a receipt request is 100.',
    tests: [
      'packages/protocol/test/parse.test.ts › a receipt request > with a wrong %s is refused',
    ],
  },
  {
    id: 'interface-2.3-3',
    source: 'interface 2.3',
    rule: 'StatusDetail, though listed as required, may be left out of the Status of a receipt request.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > has no ReceiptResponseExtension unless the request asked for it',
      'packages/protocol/test/members.test.ts › %s: %s > may be absent or null',
    ],
  },
  {
    id: 'interface-2.3-4',
    source: 'interface 2.3',
    rule: 'ReceiptRequestExtension is required in the StatusDetail of a receipt request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-2.3-5',
    source: 'interface 2.3',
    rule: 'ReceiptMessagingMode is required in a ReceiptRequestExtension, and is synch.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/parse.test.ts › a receipt request > with a wrong %s is refused',
    ],
  },
  {
    id: 'interface-2.3-6',
    source: 'interface 2.3',
    rule: 'ReceiptProfile with a Language is required in a ReceiptRequestExtension.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.3-7',
    source: 'interface 2.3',
    rule: 'ReceiptProfile with a ReceiptProfileURI, a URI, is required in a ReceiptRequestExtension.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/parse.test.ts › a receipt request > with a wrong %s is refused',
    ],
  },
  {
    id: 'interface-2.3-8',
    source: 'interface 2.3',
    rule: 'UserAck is required in a ReceiptRequestExtension, and is the string true or false.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/parse.test.ts › a receipt request > with a wrong %s is refused',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
    ],
  },
  {
    id: 'interface-2.3-9',
    source: 'interface 2.3',
    rule: 'StatusCode.Value of a receipt response is a string.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > is 200 with Status 100 REQUEST_OK when the user %s',
    ],
  },
  {
    id: 'interface-2.3-10',
    source: 'interface 2.3',
    rule: 'ReceiptMessagingMode of a receipt response is synch.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > is 200 with Status 100 REQUEST_OK when the user %s',
    ],
  },
  {
    id: 'interface-2.3-11',
    source: 'interface 2.3',
    rule: 'UserAck, ClientAck and NetworkAck of a receipt response are each the string true or false.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > is 200 with Status 100 REQUEST_OK when the user %s',
    ],
  },
  {
    id: 'interface-2.3-12',
    source: 'interface 2.3',
    rule: 'UserResponse of a receipt response is a string that holds JSON text.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > is 200 with Status 100 REQUEST_OK when the user %s',
    ],
  },
  {
    id: 'interface-4.3-1',
    source: 'interface 4.3',
    rule: 'A receipt request is an object with MSS_ReceiptReq.',
    tests: [
      'packages/protocol/test/parse.test.ts › operationOf > knows %s by its wrapper, whatever else the body has',
      'test/http/sign.test.ts › the URL for all operations > is the only one for them all: at /rest/service/%s any other wrapper is fault 101',
    ],
  },
  {
    id: 'interface-4.3-2',
    source: 'interface 4.3',
    rule: 'AP_Info is required in a receipt request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.3-3',
    source: 'interface 4.3',
    rule: 'MSSP_Info is required in a receipt request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.3-4',
    source: 'interface 4.3',
    rule: 'MajorVersion is required in a receipt request, and is 1.',
    tests: [
      'test/conformance/versions.test.ts › in a %s request, %s alone > that is %s is fault 108, which tells the versions expected',
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/receipt.test.ts › a receipt > with a bad %s is refused',
    ],
  },
  {
    id: 'interface-4.3-5',
    source: 'interface 4.3',
    rule: 'MinorVersion is required in a receipt request, and is 1.',
    tests: [
      'test/conformance/versions.test.ts › in a %s request, %s alone > that is %s is fault 108, which tells the versions expected',
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/sign.test.ts › versions > of %s: other values of %s are a fault 108',
    ],
  },
  {
    id: 'interface-4.3-6',
    source: 'interface 4.3',
    rule: 'MSSP_TransID is required in a receipt request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-4.3-7',
    source: 'interface 4.3',
    rule: 'Message is required in a receipt request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.3-8',
    source: 'interface 4.3',
    rule: 'MobileUser is required in a receipt request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.3-9',
    source: 'interface 4.3',
    rule: 'Status, though listed as required, may be left out of a receipt request.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > has no ReceiptResponseExtension unless the request asked for it',
    ],
  },
  {
    id: 'interface-4.3-10',
    source: 'interface 4.3',
    rule: 'A receipt response is an object with MSS_ReceiptResp: AP_Info, MSSP_Info, the versions and Status.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > repeats AP_Info and MSSP_ID of its request, in version 1.1',
    ],
  },
  {
    id: 'interface-4.3-11',
    source: 'interface 4.3',
    rule: 'A receipt response has MajorVersion 1 and MinorVersion 1.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > repeats AP_Info and MSSP_ID of its request, in version 1.1',
    ],
  },
  {
    id: 'interface-4.3-12',
    source: 'interface 4.3',
    rule: 'A receipt request that fails is answered with a Fault.',
    tests: [
      'test/http/receipt.test.ts › a receipt > with a bad %s is refused',
      'test/http/receipt.test.ts › a receipt > of another AP is fault 101',
    ],
  },
];
