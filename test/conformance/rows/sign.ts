/** The sign operation: its request, its response, the messaging modes, the data to be signed. */
import type { Row } from '../row.ts';

export const signRows: readonly Row[] = [
  {
    id: 'interface-2.1-13',
    source: 'interface 2.1',
    rule: 'MimeType, Encoding and Data are required in DataToBeSigned.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
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
      'test/protocol/sign.test.ts › MessagingMode > that is %j is a fault 101',
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
      'test/http/sign.test.ts › in asynch mode > the sign response carries MSSP_TransID and Status 100 REQUEST_OK, never a signature or ServiceResponses',
    ],
  },
  {
    id: 'interface-4.1-1',
    source: 'interface 4.1',
    rule: 'A sign request is an object with MSS_SignatureReq.',
    tests: [
      'test/protocol/parse.test.ts › operationOf > knows %s by its wrapper, whatever else the body has',
      'test/protocol/parse.test.ts › operationOf > leaves a wrapper without content to the operation, which calls it missing',
      'test/http/sign.test.ts › the URL for all operations > is the only one for them all: at /rest/service/%s any other wrapper is fault 101',
    ],
  },
  {
    id: 'interface-4.1-2',
    source: 'interface 4.1',
    rule: 'AP_Info is required in a sign request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.1-3',
    source: 'interface 4.1',
    rule: 'MSSP_Info is required in a sign request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.1-4',
    source: 'interface 4.1',
    rule: 'MajorVersion is required in a sign request, and is 1.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/sign.test.ts › a request > of version %s.%s is fault 108',
    ],
  },
  {
    id: 'interface-4.1-5',
    source: 'interface 4.1',
    rule: 'MinorVersion is required in a sign request, and is 2.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/sign.test.ts › a request > of version %s.%s is fault 108',
    ],
  },
  {
    id: 'interface-4.1-6',
    source: 'interface 4.1',
    rule: 'MobileUser is required in a sign request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.1-7',
    source: 'interface 4.1',
    rule: 'MessagingMode is required in a sign request, and is asynch or synch.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/sign.test.ts › MessagingMode > that is %j is a fault 101',
    ],
  },
  {
    id: 'interface-4.1-8',
    source: 'interface 4.1',
    rule: 'SignatureProfile is required in a sign request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-4.1-9',
    source: 'interface 4.1',
    rule: 'TimeOut is required in a sign request, as a string.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-4.1-10',
    source: 'interface 4.1',
    rule: 'DataToBeSigned is required in a sign request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.1-11',
    source: 'interface 4.1',
    rule: 'AdditionalServices is required in a sign request, as an array.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
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
    tests: ['test/http/additional-services.test.ts › several services > are answered one element each'],
  },
  {
    id: 'interface-8-1',
    source: 'interface 8',
    rule: 'The unit and bounds of TimeOut, which the interface leaves open, are seconds within bounds that are configured.',
    tests: [
      'test/http/sign.test.ts › a request > with TimeOut %s, beyond the bounds of 2 to 90 seconds that are configured, is fault 101',
      'test/http/sign.test.ts › a request > with TimeOut %s, at the bound, is served',
      'test/machines/signature.machine.test.ts › the life of a signature request > sets the deadline from the time of submission and TimeOut',
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
  {
    id: 'wire-requests-30',
    source: 'wire facts: requests',
    rule: 'TimeOut is a decimal integer, written as a string.',
    tests: [
      'test/protocol/sign.test.ts › TimeOut > may be %s',
      'test/protocol/sign.test.ts › TimeOut > that is %j is a fault 101',
    ],
  },
  {
    id: 'wire-requests-31',
    source: 'wire facts: requests',
    rule: 'TimeOut counts seconds.',
    tests: [
      'test/machines/signature.machine.test.ts › the life of a signature request > sets the deadline from the time of submission and TimeOut',
      'test/workers/signature.worker.test.ts › the deadline > ends a transaction that nobody answered with fault 208',
    ],
  },
  {
    id: 'wire-requests-32',
    source: 'wire facts: requests',
    rule: 'The bounds of TimeOut come from the configuration and are 1 and 300 by default.',
    tests: [
      'test/http/sign.test.ts › a request > with TimeOut %s, beyond the bounds of 2 to 90 seconds that are configured, is fault 101',
      'test/protocol/sign.test.ts › TimeOut > that is %j is a fault 101',
      'test/configuration/load.test.ts › a configuration > has a default for every key',
    ],
  },
  {
    id: 'wire-requests-33',
    source: 'wire facts: requests',
    rule: 'A transaction whose TimeOut is over ends with fault 208.',
    tests: [
      'test/workers/signature.worker.test.ts › the deadline > ends a transaction that nobody answered with fault 208',
      'test/workers/signature.worker.test.ts › the deadline > answers a synchronous caller with fault 208',
      'test/http/status.test.ts › the status of an asynch request > is 504 OUTSTANDING_TRANSACTION until the user has acted, then the Fault of what the user did',
    ],
  },
  {
    id: 'wire-requests-34',
    source: 'wire facts: requests',
    rule: 'DataToBeSigned may have 239 characters when all are in GSM 03.38; a longer text is fault 103.',
    tests: [
      'test/http/sign.test.ts › a request > with DataToBeSigned of the greatest length is signed: %s',
      'test/http/sign.test.ts › a request > with DataToBeSigned that is longer is fault 103: %s',
      'test/protocol/gsm.test.ts › GSM 03.38 > has the 127 characters of the default alphabet and the 10 of the extension table',
    ],
  },
  {
    id: 'wire-requests-35',
    source: 'wire facts: requests',
    rule: 'DataToBeSigned with any character outside GSM 03.38 may have 119 characters; a longer text is fault 103.',
    tests: [
      'test/http/sign.test.ts › a request > with DataToBeSigned of the greatest length is signed: %s',
      'test/http/sign.test.ts › a request > with DataToBeSigned that is longer is fault 103: %s',
      'test/protocol/gsm.test.ts › GSM 03.38 > allows 119 characters of %j',
    ],
  },
  {
    id: 'wire-requests-36',
    source: 'wire facts: requests',
    rule: 'The Encoding of DataToBeSigned is UTF-8, else fault 107.',
    tests: [
      'test/http/sign.test.ts › a request > with DataToBeSigned.%s %s is fault 107',
      'test/protocol/data-to-be-signed.test.ts › DataToBeSigned > with another %s is a fault 107',
    ],
  },
  {
    id: 'wire-requests-37',
    source: 'wire facts: requests',
    rule: 'The MimeType of DataToBeSigned is text/plain or that of a transaction approval, else fault 107.',
    tests: [
      'test/http/sign.test.ts › a request > with DataToBeSigned.%s %s is fault 107',
      'test/protocol/data-to-be-signed.test.ts › DataToBeSigned > with another %s is a fault 107',
    ],
  },
  {
    id: 'wire-requests-38',
    source: 'wire facts: requests',
    rule: 'An application may have a mandatory prefix; data without it is fault 107 with the Detail DTBD matching failed.',
    tests: [
      'test/http/application-provider.test.ts › an AP > with a mandatory prefix gets fault 107 for data without it',
    ],
  },
  {
    id: 'wire-requests-39',
    source: 'wire facts: requests',
    rule: 'A transaction approval is accepted as a second MimeType.',
    tests: [
      'test/http/signature.test.ts › a transaction approval > is signed as format_version 1 and the dtbd array as JSON text',
    ],
  },
  {
    id: 'wire-requests-40',
    source: 'wire facts: requests',
    rule: 'A transaction approval is for Device-LoA4 only.',
    tests: [
      'test/http/signature.test.ts › a transaction approval > is for Device-LoA4 only, else fault 107',
      'test/protocol/approval.test.ts › a transaction approval > with profile %s is a fault 107',
    ],
  },
  {
    id: 'wire-requests-41',
    source: 'wire facts: requests',
    rule: 'The Data of a transaction approval is JSON text with type and dtbd, an array of key and value.',
    tests: [
      'test/protocol/approval.test.ts › a transaction approval > with %s is a fault 101',
      'test/http/signature.test.ts › a transaction approval > with %s is refused',
    ],
  },
  {
    id: 'wire-requests-42',
    source: 'wire facts: requests',
    rule: 'The type of a transaction approval has 100 bytes at most.',
    tests: [
      'test/protocol/approval.test.ts › a transaction approval > may use every limit to the full',
      'test/protocol/approval.test.ts › a transaction approval > with %s is a fault 103',
    ],
  },
  {
    id: 'wire-requests-43',
    source: 'wire facts: requests',
    rule: 'A transaction approval has 20 pairs at most.',
    tests: [
      'test/protocol/approval.test.ts › a transaction approval > may use every limit to the full',
      'test/protocol/approval.test.ts › a transaction approval > with %s is a fault 103',
    ],
  },
  {
    id: 'wire-requests-44',
    source: 'wire facts: requests',
    rule: 'A key of a transaction approval has 100 bytes at most.',
    tests: [
      'test/protocol/approval.test.ts › a transaction approval > may use every limit to the full',
      'test/protocol/approval.test.ts › a transaction approval > with %s is a fault 103',
    ],
  },
  {
    id: 'wire-requests-45',
    source: 'wire facts: requests',
    rule: 'The values of a transaction approval have 2000 bytes at most, taken together.',
    tests: [
      'test/protocol/approval.test.ts › a transaction approval > may use every limit to the full',
      'test/protocol/approval.test.ts › a transaction approval > with %s is a fault 103',
    ],
  },
  {
    id: 'wire-requests-46',
    source: 'wire facts: requests',
    rule: 'What is signed of a transaction approval is JSON of format_version 1 and of content_string, the dtbd array as JSON text.',
    tests: [
      'test/http/signature.test.ts › a transaction approval > is signed as format_version 1 and the dtbd array as JSON text',
      'test/protocol/approval.test.ts › a transaction approval > has the canonical form of the published example',
    ],
  },
  {
    id: 'wire-requests-47',
    source: 'wire facts: requests',
    rule: 'MessagingMode is exactly synch or asynch.',
    tests: ['test/protocol/sign.test.ts › MessagingMode > that is %j is a fault 101'],
  },
  {
    id: 'wire-requests-48',
    source: 'wire facts: requests',
    rule: 'AdditionalServices has to be there and may be empty.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/services.test.ts › AdditionalServices > may be empty',
    ],
  },
  {
    id: 'wire-requests-49',
    source: 'wire facts: requests',
    rule: 'MSSP_TransID is of letters and digits and begins with a letter.',
    tests: [
      'test/http/sign.test.ts › MSSP_TransID > is of letters and digits, first a letter, and never the same twice',
    ],
  },
  {
    id: 'wire-requests-50',
    source: 'wire facts: requests',
    rule: 'MSSP_TransID is unique.',
    tests: [
      'test/http/sign.test.ts › MSSP_TransID > is of letters and digits, first a letter, and never the same twice',
      'test/http/concurrency.test.ts › a robot > serves any number of requests at once',
    ],
  },
  {
    id: 'wire-requests-51',
    source: 'wire facts: requests',
    rule: 'MSSP_TransID cannot be guessed.',
    tests: [
      'test/conformance/workflow.test.ts › MSSP_TransID > is drawn at random: 17 places in each of which any of 62 letters and digits may stand',
    ],
  },
  {
    id: 'wire-requests-52',
    source: 'wire facts: requests',
    rule: 'The same request sent again while the first is open joins its transaction.',
    tests: [
      'test/http/concurrency.test.ts › the same request sent twice > while the first is open is one transaction, whose signature both callers get',
      'test/http/concurrency.test.ts › several processes of one service > share transactions, keys and duplicates, whoever is asked and whoever works',
    ],
  },
  {
    id: 'wire-requests-53',
    source: 'wire facts: requests',
    rule: 'A request that joins makes no second prompt on the phone.',
    tests: [
      'test/http/concurrency.test.ts › the same request sent twice > is one prompt on the phone, not a busy SIM',
    ],
  },
  {
    id: 'wire-requests-54',
    source: 'wire facts: requests',
    rule: 'Requests are the same when AP_ID, AP_TransID, Instant and content are.',
    tests: [
      'test/http/concurrency.test.ts › the same request sent twice > but for another %s is another transaction',
      'test/http/concurrency.test.ts › the same request sent twice > written differently, with the Instant in another zone and members in another order, is still the same',
    ],
  },
  {
    id: 'wire-requests-55',
    source: 'wire facts: requests',
    rule: 'After the first has ended, the same request is a new transaction.',
    tests: [
      'test/http/concurrency.test.ts › the same request sent twice > after the first has %s is a new transaction',
    ],
  },
  {
    id: 'wire-modes-1',
    source: 'wire facts: modes',
    rule: 'A synch answer carries MSS_Signature, MSSP_TransID and Status 500 SIGNATURE.',
    tests: [
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
    ],
  },
  {
    id: 'wire-modes-2',
    source: 'wire facts: modes',
    rule: 'A synch answer carries ServiceResponses if services were asked for, and only then.',
    tests: [
      'test/http/additional-services.test.ts › several services > are answered one element each',
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
    ],
  },
  {
    id: 'wire-modes-3',
    source: 'wire facts: modes',
    rule: 'A synch answer says 502 where the service was to verify the signature.',
    tests: [
      'test/http/additional-services.test.ts › validate > has the service verify the signature and say 502 VALID_SIGNATURE, without a ServiceResponse',
    ],
  },
  {
    id: 'wire-modes-4',
    source: 'wire facts: modes',
    rule: 'A synch request that is not signed is answered with the Fault.',
    tests: [
      'test/http/sign.test.ts › in synch mode > a failed signature is HTTP 500 with the Fault',
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'wire-modes-5',
    source: 'wire facts: modes',
    rule: 'An asynch answer carries MSSP_TransID and Status 100 REQUEST_OK.',
    tests: [
      'test/http/sign.test.ts › in asynch mode > the sign response carries MSSP_TransID and Status 100 REQUEST_OK, never a signature or ServiceResponses',
    ],
  },
  {
    id: 'wire-modes-6',
    source: 'wire facts: modes',
    rule: 'An asynch answer has no signature and no ServiceResponses but that of app2app.',
    tests: [
      'test/http/sign.test.ts › in asynch mode > the sign response carries MSSP_TransID and Status 100 REQUEST_OK, never a signature or ServiceResponses',
      'test/http/additional-services.test.ts › app2app > is answered in asynch mode with an AuthUri of redirect URI, session token and user id',
    ],
  },
  {
    id: 'wire-modes-7',
    source: 'wire facts: modes',
    rule: 'In asynch mode what is wrong with the request faults at sign.',
    tests: [
      'test/http/sign.test.ts › in asynch mode > what is wrong with the request faults at sign',
      'test/http/faults.test.ts › in asynch mode > %i is a fault of the request and shows at sign',
    ],
  },
  {
    id: 'wire-modes-8',
    source: 'wire facts: modes',
    rule: 'In asynch mode what the user or the device does shows through status.',
    tests: [
      'test/http/faults.test.ts › in asynch mode > %i is a fault of the user or device and shows through status',
      'test/conformance/workflow.test.ts › what stands against asking a user > is no fault of the request: in asynch mode %s %o is accepted and shows %s through status',
      'test/http/concurrency.test.ts › a SIM > that is busy shows through status in asynch mode',
    ],
  },
];
