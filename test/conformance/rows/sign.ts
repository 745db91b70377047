/** The sign operation: its request and its response. */
import type { Row } from '../row.ts';

export const signRows: readonly Row[] = [
  {
    id: 'interface-2.1-13',
    source: 'interface 2.1',
    rule: 'MimeType, Encoding and Data are required in DataToBeSigned.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.1-14',
    source: 'interface 2.1',
    rule: 'A signature is carried as Base64 text in MSS_Signature.Base64Signature.',
    tests: [
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
    ],
  },
  {
    id: 'interface-2.1-15',
    source: 'interface 2.1',
    rule: 'A SignatureStatus has a StatusMessage and, as a string, a StatusCode.Value.',
    tests: [
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
      'test/http/sign.test.ts › in asynch mode > the sign response carries MSSP_TransID and Status 100 REQUEST_OK, never a signature or ServiceResponses',
    ],
  },
  {
    id: 'interface-2.1-16',
    source: 'interface 2.1',
    rule: 'MSSP_TransID is given by the service to each signature request.',
    tests: [
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
      'test/http/sign.test.ts › MSSP_TransID > is of letters and digits, first a letter, and never the same twice',
    ],
  },
  {
    id: 'interface-3-1',
    source: 'interface 3',
    rule: 'In synch mode the sign response may carry the signature.',
    tests: [
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
    ],
  },
  {
    id: 'interface-3-2',
    source: 'interface 3',
    rule: 'In asynch mode the sign response never carries a signature but MSSP_TransID, which the status operation takes.',
    tests: [
      'test/http/sign.test.ts › in asynch mode > the sign response carries MSSP_TransID and Status 100 REQUEST_OK, never a signature or ServiceResponses',
      'test/http/status.test.ts › the status of an asynch request > is then 500 SIGNATURE with signature, MobileUser and ServiceResponses, without MSSP_TransID and SignatureProfile',
    ],
  },
  {
    id: 'interface-3-3',
    source: 'interface 3',
    rule: 'A receipt is for a signature that succeeded.',
    tests: [
      'test/http/receipt.test.ts › a receipt > before the user has signed, or after the user has not, is fault 101',
    ],
  },
  {
    id: 'interface-3-4',
    source: 'interface 3',
    rule: 'The messaging modes are synch and asynch.',
    tests: [
      'packages/protocol/test/sign.test.ts › MessagingMode > that is %j is a fault 101',
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
      'test/http/sign.test.ts › in asynch mode > the sign response carries MSSP_TransID and Status 100 REQUEST_OK, never a signature or ServiceResponses',
    ],
  },
  {
    id: 'interface-4.1-1',
    source: 'interface 4.1',
    rule: 'A sign request is an object with MSS_SignatureReq.',
    tests: [
      'packages/protocol/test/parse.test.ts › operationOf > knows %s by its wrapper, whatever else the body has',
      'packages/protocol/test/parse.test.ts › operationOf > leaves a wrapper without content to the operation, which calls it missing',
      'test/http/sign.test.ts › the URL for all operations > is the only one for them all: at /rest/service/%s any other wrapper is fault 101',
    ],
  },
  {
    id: 'interface-4.1-2',
    source: 'interface 4.1',
    rule: 'AP_Info is required in a sign request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.1-3',
    source: 'interface 4.1',
    rule: 'MSSP_Info is required in a sign request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.1-4',
    source: 'interface 4.1',
    rule: 'MajorVersion is required in a sign request, and is 1.',
    tests: [
      'test/conformance/versions.test.ts › in a %s request, %s alone > that is %s is fault 108, which tells the versions expected',
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/sign.test.ts › a request > of version %s.%s is fault 108',
    ],
  },
  {
    id: 'interface-4.1-5',
    source: 'interface 4.1',
    rule: 'MinorVersion is required in a sign request, and is 2.',
    tests: [
      'test/http/sign.test.ts › a request > of version 1.%s is answered in version 1.1',
      'test/conformance/versions.test.ts › in a %s request, %s alone > that is %s is fault 108, which tells the versions expected',
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/sign.test.ts › a request > of version %s.%s is fault 108',
    ],
  },
  {
    id: 'interface-4.1-6',
    source: 'interface 4.1',
    rule: 'MobileUser is required in a sign request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.1-7',
    source: 'interface 4.1',
    rule: 'MessagingMode is required in a sign request, and is asynch or synch.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/sign.test.ts › MessagingMode > that is %j is a fault 101',
    ],
  },
  {
    id: 'interface-4.1-8',
    source: 'interface 4.1',
    rule: 'SignatureProfile is required in a sign request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-4.1-9',
    source: 'interface 4.1',
    rule: 'TimeOut is required in a sign request, as a string.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-4.1-10',
    source: 'interface 4.1',
    rule: 'DataToBeSigned is required in a sign request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.1-11',
    source: 'interface 4.1',
    rule: 'AdditionalServices is required in a sign request, as an array.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-4.1-12',
    source: 'interface 4.1',
    rule: 'A sign response is an object with MSS_SignatureResp and nothing beside it.',
    tests: [
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
    ],
  },
  {
    id: 'interface-4.1-13',
    source: 'interface 4.1',
    rule: 'A sign response has AP_Info and MSSP_Info.',
    tests: [
      'test/http/sign.test.ts › an answer > repeats AP_ID, AP_TransID and Instant of this request, Instant in UTC with three decimals, never AP_PWD',
      'test/http/sign.test.ts › an answer > repeats MSSP_ID as the request spelled it, with the time of the answer',
    ],
  },
  {
    id: 'interface-4.1-14',
    source: 'interface 4.1',
    rule: 'A sign response has MajorVersion 1 and MinorVersion 1.',
    tests: ['test/http/sign.test.ts › a request > of version 1.%s is answered in version 1.1'],
  },
  {
    id: 'interface-4.1-15',
    source: 'interface 4.1',
    rule: 'A sign response has the MobileUser of the request.',
    tests: ['test/http/sign.test.ts › an answer > repeats the MSISDN as written: %s'],
  },
  {
    id: 'interface-4.1-16',
    source: 'interface 4.1',
    rule: 'A sign response has MSSP_TransID.',
    tests: [
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
      'test/http/sign.test.ts › in asynch mode > the sign response carries MSSP_TransID and Status 100 REQUEST_OK, never a signature or ServiceResponses',
    ],
  },
  {
    id: 'interface-4.1-17',
    source: 'interface 4.1',
    rule: 'A sign response has MSS_Signature when there is a signature to give.',
    tests: [
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
    ],
  },
  {
    id: 'interface-4.1-18',
    source: 'interface 4.1',
    rule: 'A sign response has a Status.',
    tests: [
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
      'test/http/sign.test.ts › in asynch mode > the sign response carries MSSP_TransID and Status 100 REQUEST_OK, never a signature or ServiceResponses',
    ],
  },
  {
    id: 'interface-4.1-19',
    source: 'interface 4.1',
    rule: 'A sign response has SignatureProfile.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
      'test/http/signature-profile.test.ts › an asynch request > is answered with the method chosen as well, and faults at once when there is none',
    ],
  },
  {
    id: 'interface-4.1-20',
    source: 'interface 4.1',
    rule: 'A sign response has ServiceResponses as an array when services were asked for that have an answer.',
    tests: [
      'test/http/additional-services.test.ts › several services > are answered one element each',
    ],
  },
  {
    id: 'interface-8-1',
    source: 'interface 8',
    rule: 'The unit and bounds of TimeOut, which the interface leaves open, are seconds within bounds that are configured.',
    tests: [
      'test/http/sign.test.ts › a request > with TimeOut %s, beyond the bounds of 2 to 90 seconds that are configured, is fault 101',
      'test/http/sign.test.ts › a request > with TimeOut %s, at the bound, is served',
      'test/queue/scheduled.test.ts › the deadline of a scheduled request > is TimeOut after its time, however late it is taken',
    ],
  },
  {
    id: 'interface-8-2',
    source: 'interface 8',
    rule: 'Rate limits, which the interface leaves open, are set for each application and answered with fault 104.',
    tests: [
      'test/http/application-provider.test.ts › an AP > that calls too often gets fault 104, and no other AP does',
    ],
  },
];
