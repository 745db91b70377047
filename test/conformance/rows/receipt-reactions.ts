/** When a receipt may be sent, and what is answered for what the user does with it. */
import type { Row } from '../row.ts';

export const receiptReactionsRows: readonly Row[] = [
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
    rule: 'A receipt that the user saw without acting has UserAck true, the UserResponse status TIMEOUT and the FaultMessage Timeout waiting response.',
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
