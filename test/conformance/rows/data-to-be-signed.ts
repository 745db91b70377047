/** What a user is shown and signs: texts and transaction approvals. */
import type { Row } from '../row.ts';

export const dataToBeSignedRows: readonly Row[] = [
  {
    id: 'wire-requests-30',
    source: 'wire facts: requests',
    rule: 'DataToBeSigned may have 239 characters when all are in GSM 03.38; a longer text is fault 103.',
    tests: [
      'test/http/sign.test.ts › a request > with DataToBeSigned of the greatest length is signed: %s',
      'test/http/sign.test.ts › a request > with DataToBeSigned that is longer is fault 103: %s',
      'packages/protocol/test/gsm.test.ts › GSM 03.38 > has the 127 characters of the default alphabet and the 10 of the extension table',
    ],
  },
  {
    id: 'wire-requests-31',
    source: 'wire facts: requests',
    rule: 'DataToBeSigned with any character outside GSM 03.38 may have 119 characters; a longer text is fault 103.',
    tests: [
      'test/http/sign.test.ts › a request > with DataToBeSigned of the greatest length is signed: %s',
      'test/http/sign.test.ts › a request > with DataToBeSigned that is longer is fault 103: %s',
      'packages/protocol/test/gsm.test.ts › GSM 03.38 > allows 119 characters of %j',
    ],
  },
  {
    id: 'wire-requests-32',
    source: 'wire facts: requests',
    rule: 'The Encoding of DataToBeSigned is UTF-8, else fault 107.',
    tests: [
      'test/http/sign.test.ts › a request > with DataToBeSigned.%s %s is fault 107',
      'packages/protocol/test/data-to-be-signed.test.ts › DataToBeSigned > with another %s is a fault 107',
    ],
  },
  {
    id: 'wire-requests-33',
    source: 'wire facts: requests',
    rule: 'The MimeType of DataToBeSigned is text/plain or that of a transaction approval, else fault 107.',
    tests: [
      'test/http/sign.test.ts › a request > with DataToBeSigned.%s %s is fault 107',
      'packages/protocol/test/data-to-be-signed.test.ts › DataToBeSigned > with another %s is a fault 107',
    ],
  },
  {
    id: 'wire-requests-34',
    source: 'wire facts: requests',
    rule: 'An application may have a mandatory prefix; data without it is fault 107 with the Detail DTBD matching failed.',
    tests: [
      'test/http/application-provider.test.ts › an AP > with a mandatory prefix gets fault 107 for data without it',
    ],
  },
  {
    id: 'wire-requests-35',
    source: 'wire facts: requests',
    rule: 'A transaction approval is accepted as a second MimeType.',
    tests: [
      'test/http/signature.test.ts › a transaction approval > is signed as format_version 1 and the dtbd array as JSON text',
    ],
  },
  {
    id: 'wire-requests-36',
    source: 'wire facts: requests',
    rule: 'A transaction approval is for Device-LoA4 only.',
    tests: [
      'test/http/signature.test.ts › a transaction approval > is for Device-LoA4 only, else fault 107',
      'packages/protocol/test/approval.test.ts › a transaction approval > with profile %s is a fault 107',
    ],
  },
  {
    id: 'wire-requests-37',
    source: 'wire facts: requests',
    rule: 'The Data of a transaction approval is JSON text with type and dtbd, an array of key and value.',
    tests: [
      'packages/protocol/test/approval.test.ts › a transaction approval > with %s is a fault 101',
      'test/http/signature.test.ts › a transaction approval > with %s is refused',
    ],
  },
  {
    id: 'wire-requests-38',
    source: 'wire facts: requests',
    rule: 'The type of a transaction approval has 100 bytes at most.',
    tests: [
      'packages/protocol/test/approval.test.ts › a transaction approval > may use every limit to the full',
      'packages/protocol/test/approval.test.ts › a transaction approval > with %s is a fault 103',
    ],
  },
  {
    id: 'wire-requests-39',
    source: 'wire facts: requests',
    rule: 'A transaction approval has 20 pairs at most.',
    tests: [
      'packages/protocol/test/approval.test.ts › a transaction approval > may use every limit to the full',
      'packages/protocol/test/approval.test.ts › a transaction approval > with %s is a fault 103',
    ],
  },
  {
    id: 'wire-requests-40',
    source: 'wire facts: requests',
    rule: 'A key of a transaction approval has 100 bytes at most.',
    tests: [
      'packages/protocol/test/approval.test.ts › a transaction approval > may use every limit to the full',
      'packages/protocol/test/approval.test.ts › a transaction approval > with %s is a fault 103',
    ],
  },
  {
    id: 'wire-requests-41',
    source: 'wire facts: requests',
    rule: 'The values of a transaction approval have 2000 bytes at most, taken together.',
    tests: [
      'packages/protocol/test/approval.test.ts › a transaction approval > may use every limit to the full',
      'packages/protocol/test/approval.test.ts › a transaction approval > with %s is a fault 103',
    ],
  },
  {
    id: 'wire-requests-42',
    source: 'wire facts: requests',
    rule: 'What is signed of a transaction approval is JSON of format_version 1 and of content_string, the dtbd array as JSON text.',
    tests: [
      'test/http/signature.test.ts › a transaction approval > is signed as format_version 1 and the dtbd array as JSON text',
      'packages/protocol/test/approval.test.ts › a transaction approval > has the canonical form of the published example',
    ],
  },
  {
    id: 'wire-requests-63',
    source: 'wire facts: requests',
    rule: 'A text, an approval or a receipt with Unicode tags, which no screen shows, is fault 107 (chosen here: nothing says what happens).',
    tests: [
      'packages/protocol/test/data-to-be-signed.test.ts › DataToBeSigned > %s with Unicode tags, which nobody sees, is a fault 107',
      'packages/protocol/test/approval.test.ts › a transaction approval > with Unicode tags in a %s is a fault 107',
    ],
  },
];
