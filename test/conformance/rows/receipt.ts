/** The receipt operation. */
import type { Row } from '../row.ts';

export const receiptRows: readonly Row[] = [
  {
    id: 'interface-2.1-27',
    source: 'interface 2.1',
    rule: "MimeType, Encoding and Data are required in a receipt's Message.",
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.1-28',
    source: 'interface 2.1',
    rule: "MimeType, Encoding and Data of a receipt's Message mean what they mean in DataToBeSigned.",
    tests: [
      'test/protocol/parse.test.ts › a receipt request > with a wrong %s is refused',
      'test/http/receipt.test.ts › a receipt > with a bad %s is refused',
    ],
  },
  {
    id: 'interface-2.3-1',
    source: 'interface 2.3',
    rule: 'StatusCode with its Value is required in the Status of a receipt request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.3-2',
    source: 'interface 2.3',
    rule: 'StatusCode.Value of a receipt request is 100.',
    tests: [
      'test/http/receipt.test.ts › a receipt > with a bad %s is refused',
      'test/protocol/parse.test.ts › a receipt request > with a wrong %s is refused',
    ],
  },
  {
    id: 'interface-2.3-3',
    source: 'interface 2.3',
    rule: 'StatusDetail, though listed as required, may be left out of the Status of a receipt request (decision 24).',
    tests: [
      'test/http/receipt.test.ts › the receipt response > has no ReceiptResponseExtension unless the request asked for it',
      'test/protocol/members.test.ts › %s: %s > may be absent or null',
    ],
  },
  {
    id: 'interface-2.3-4',
    source: 'interface 2.3',
    rule: 'ReceiptRequestExtension is required in the StatusDetail of a receipt request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-2.3-5',
    source: 'interface 2.3',
    rule: 'ReceiptMessagingMode is required in a ReceiptRequestExtension, and is synch.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/receipt.test.ts › a receipt > with a bad %s is refused',
    ],
  },
  {
    id: 'interface-2.3-6',
    source: 'interface 2.3',
    rule: 'ReceiptProfile with a Language is required in a ReceiptRequestExtension.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.3-7',
    source: 'interface 2.3',
    rule: 'ReceiptProfile with a ReceiptProfileURI, a URI, is required in a ReceiptRequestExtension.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/receipt.test.ts › a receipt > with a bad %s is refused',
    ],
  },
  {
    id: 'interface-2.3-8',
    source: 'interface 2.3',
    rule: 'UserAck is required in a ReceiptRequestExtension, and is the string true or false.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/receipt.test.ts › a receipt > with a bad %s is refused',
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
      'test/protocol/parse.test.ts › operationOf > knows %s by its wrapper, whatever else the body has',
      'test/http/sign.test.ts › the URL for all operations > is the only one for them all: at /rest/service/%s any other wrapper is fault 101',
    ],
  },
  {
    id: 'interface-4.3-2',
    source: 'interface 4.3',
    rule: 'AP_Info is required in a receipt request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.3-3',
    source: 'interface 4.3',
    rule: 'MSSP_Info is required in a receipt request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.3-4',
    source: 'interface 4.3',
    rule: 'MajorVersion is required in a receipt request, and is 1.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/receipt.test.ts › a receipt > with a bad %s is refused',
    ],
  },
  {
    id: 'interface-4.3-5',
    source: 'interface 4.3',
    rule: 'MinorVersion is required in a receipt request, and is 1.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/sign.test.ts › versions > of %s: other values of %s are a fault 108',
    ],
  },
  {
    id: 'interface-4.3-6',
    source: 'interface 4.3',
    rule: 'MSSP_TransID is required in a receipt request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-4.3-7',
    source: 'interface 4.3',
    rule: 'Message is required in a receipt request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.3-8',
    source: 'interface 4.3',
    rule: 'MobileUser is required in a receipt request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
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
  {
    id: 'wire-receipt-1',
    source: 'wire facts: receipt',
    rule: 'A signature has one receipt; another is fault 101.',
    tests: [
      'test/http/receipt.test.ts › a receipt > is sent once for each signature: another one is fault 101',
      'test/http/receipt.test.ts › a receipt > of several different ones at the same time reaches the user once',
    ],
  },
  {
    id: 'wire-receipt-2',
    source: 'wire facts: receipt',
    rule: 'A receipt is for a successful signature, else fault 101.',
    tests: [
      'test/http/receipt.test.ts › a receipt > before the user has signed, or after the user has not, is fault 101',
      'test/http/signature-profile.test.ts › %s > has a status without signature, and no receipt',
    ],
  },
  {
    id: 'wire-receipt-3',
    source: 'wire facts: receipt',
    rule: 'A receipt comes from the application that asked for the signature, else fault 101.',
    tests: ['test/http/receipt.test.ts › a receipt > of another AP is fault 101'],
  },
  {
    id: 'wire-receipt-4',
    source: 'wire facts: receipt',
    rule: 'A receipt goes to the MSISDN that signed, else fault 101.',
    tests: [
      'test/http/receipt.test.ts › a receipt > for another number than the one that signed is fault 101',
    ],
  },
  {
    id: 'wire-receipt-5',
    source: 'wire facts: receipt',
    rule: 'The answer to a receipt comes when the user has acted.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > is 200 with Status 100 REQUEST_OK when the user %s',
      'test/http/recorded.test.ts › is answered as the live server did: %s',
    ],
  },
  {
    id: 'wire-receipt-6',
    source: 'wire facts: receipt',
    rule: 'The answer to a receipt comes when the prompt has lapsed if the user does not act.',
    tests: [
      'test/conformance/workflow.test.ts › the answer to a receipt > does not come before the prompt has lapsed when the user %s',
    ],
  },
  {
    id: 'wire-receipt-7',
    source: 'wire facts: receipt',
    rule: 'Whatever the user does, a receipt is answered with HTTP 200 and Status 100 REQUEST_OK.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > is 200 with Status 100 REQUEST_OK when the user %s',
    ],
  },
  {
    id: 'wire-receipt-8',
    source: 'wire facts: receipt',
    rule: 'A receipt that the user accepted has UserAck true, the UserResponse status OK and no FaultMessage.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > is 200 with Status 100 REQUEST_OK when the user %s',
    ],
  },
  {
    id: 'wire-receipt-9',
    source: 'wire facts: receipt',
    rule: 'A receipt that the user cancelled has UserAck true, the UserResponse status CANCEL and the FaultMessage User cancelled the request.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > is 200 with Status 100 REQUEST_OK when the user %s',
    ],
  },
  {
    id: 'wire-receipt-10',
    source: 'wire facts: receipt',
    rule: 'A receipt that the user saw without acting has UserAck true, the UserResponse status TIMEOUT and no FaultMessage.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > is 200 with Status 100 REQUEST_OK when the user %s',
    ],
  },
  {
    id: 'wire-receipt-11',
    source: 'wire facts: receipt',
    rule: 'A receipt that the user never answered has UserAck false and neither UserResponse nor FaultMessage.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > is 200 with Status 100 REQUEST_OK when the user %s',
    ],
  },
  {
    id: 'wire-receipt-12',
    source: 'wire facts: receipt',
    rule: 'ClientAck and NetworkAck are false.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > is 200 with Status 100 REQUEST_OK when the user %s',
    ],
  },
  {
    id: 'wire-receipt-13',
    source: 'wire facts: receipt',
    rule: 'The ReceiptResponseExtension is there only if the request had one.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > has no ReceiptResponseExtension unless the request asked for it',
    ],
  },
  {
    id: 'wire-receipt-14',
    source: 'wire facts: receipt',
    rule: 'Any text is accepted for Language.',
    tests: [
      'test/http/receipt.test.ts › a receipt > may follow an asynch signature, with the MSISDN in the other spelling and any text for a Language',
    ],
  },
];
