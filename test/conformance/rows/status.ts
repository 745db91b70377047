/** The status operation. */
import type { Row } from '../row.ts';

export const statusRows: readonly Row[] = [
  {
    id: 'interface-4.2-1',
    source: 'interface 4.2',
    rule: 'A status request is an object with MSS_StatusReq.',
    tests: [
      'packages/protocol/test/parse.test.ts › operationOf > knows %s by its wrapper, whatever else the body has',
      'test/http/sign.test.ts › the URL for all operations > is the only one for them all: at /rest/service/%s any other wrapper is fault 101',
    ],
  },
  {
    id: 'interface-4.2-2',
    source: 'interface 4.2',
    rule: 'AP_Info is required in a status request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.2-3',
    source: 'interface 4.2',
    rule: 'MSSP_Info is required in a status request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.2-4',
    source: 'interface 4.2',
    rule: 'MajorVersion is required in a status request, and is 1.',
    tests: [
      'test/conformance/versions.test.ts › in a %s request, %s alone > that is %s is fault 108, which tells the versions expected',
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/status.test.ts › the status of an asynch request > asked for in version %s.%s is fault 108',
    ],
  },
  {
    id: 'interface-4.2-5',
    source: 'interface 4.2',
    rule: 'MinorVersion is required in a status request, and is 1.',
    tests: [
      'test/conformance/versions.test.ts › in a %s request, %s alone > that is %s is fault 108, which tells the versions expected',
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/status.test.ts › the status of an asynch request > asked for in version %s.%s is fault 108',
    ],
  },
  {
    id: 'interface-4.2-6',
    source: 'interface 4.2',
    rule: 'MSSP_TransID is required in a status request, as a string.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-4.2-7',
    source: 'interface 4.2',
    rule: 'A status response is an object with MSS_StatusResp and nothing beside it.',
    tests: [
      'test/http/sign.test.ts › the URL for all operations > goes by the wrapper of the body',
      'test/http/openapi.test.ts › the schemas of the responses > describe what the service answers > to all four operations',
    ],
  },
  {
    id: 'interface-4.2-8',
    source: 'interface 4.2',
    rule: 'A status response has AP_Info and MSSP_Info.',
    tests: [
      'test/http/status.test.ts › the status of an asynch request > repeats AP_Info and MSSP_ID of the status request, not of the sign request',
    ],
  },
  {
    id: 'interface-4.2-9',
    source: 'interface 4.2',
    rule: 'A status response has MajorVersion 1 and MinorVersion 1.',
    tests: [
      'test/http/status.test.ts › the status of an asynch request > is then 500 SIGNATURE with signature, MobileUser and ServiceResponses, without MSSP_TransID and SignatureProfile',
    ],
  },
  {
    id: 'interface-4.2-10',
    source: 'interface 4.2',
    rule: 'A status response has MobileUser.',
    tests: [
      'test/http/status.test.ts › the status of an asynch request > is then 500 SIGNATURE with signature, MobileUser and ServiceResponses, without MSSP_TransID and SignatureProfile',
      'test/http/status.test.ts › the status of an asynch request > is 504 OUTSTANDING_TRANSACTION until the user has acted, then the Fault of what the user did',
    ],
  },
  {
    id: 'interface-4.2-11',
    source: 'interface 4.2',
    rule: 'A status response has MSS_Signature once there is one.',
    tests: [
      'test/http/status.test.ts › the status of an asynch request > is then 500 SIGNATURE with signature, MobileUser and ServiceResponses, without MSSP_TransID and SignatureProfile',
    ],
  },
  {
    id: 'interface-4.2-12',
    source: 'interface 4.2',
    rule: 'A status response has a Status.',
    tests: [
      'test/http/status.test.ts › the status of an asynch request > is then 500 SIGNATURE with signature, MobileUser and ServiceResponses, without MSSP_TransID and SignatureProfile',
      'test/http/status.test.ts › the status of an asynch request > is 504 OUTSTANDING_TRANSACTION until the user has acted, then the Fault of what the user did',
    ],
  },
  {
    id: 'interface-4.2-13',
    source: 'interface 4.2',
    rule: 'A status response has ServiceResponses if the sign request asked for services that have an answer.',
    tests: [
      'test/http/status.test.ts › the status of an asynch request > is then 500 SIGNATURE with signature, MobileUser and ServiceResponses, without MSSP_TransID and SignatureProfile',
      'test/http/additional-services.test.ts › geofencing > is answered through status in asynch mode',
    ],
  },
  {
    id: 'interface-4.2-14',
    source: 'interface 4.2',
    rule: 'A status request that fails is answered with a Fault.',
    tests: [
      'test/http/status.test.ts › a transaction that this AP cannot see > is fault 101 in the very same bytes, be it unknown, foreign or past its retention',
    ],
  },
  {
    id: 'wire-modes-9',
    source: 'wire facts: modes',
    rule: 'Status is 504 OUTSTANDING_TRANSACTION until the transaction has ended.',
    tests: [
      'test/http/status.test.ts › the status of an asynch request > is 504 OUTSTANDING_TRANSACTION until the user has acted, then the Fault of what the user did',
    ],
  },
  {
    id: 'wire-modes-10',
    source: 'wire facts: modes',
    rule: 'After a signature, status is 500 or 502 with signature, MobileUser and ServiceResponses.',
    tests: [
      'test/http/status.test.ts › the status of an asynch request > is then 500 SIGNATURE with signature, MobileUser and ServiceResponses, without MSSP_TransID and SignatureProfile',
      'test/http/status.test.ts › the status of an asynch request > is 502 VALID_SIGNATURE when the service was asked to verify it',
    ],
  },
  {
    id: 'wire-modes-11',
    source: 'wire facts: modes',
    rule: 'After a failure, status is the Fault.',
    tests: [
      'test/http/status.test.ts › the status of an asynch request > is 504 OUTSTANDING_TRANSACTION until the user has acted, then the Fault of what the user did',
      'test/http/faults.test.ts › in asynch mode > %i is a fault of the user or device and shows through status',
    ],
  },
  {
    id: 'wire-modes-12',
    source: 'wire facts: modes',
    rule: 'Status can be asked for again and again.',
    tests: [
      'test/http/status.test.ts › the status of an asynch request > can be asked for again and again, signed or failed, and with a receipt',
    ],
  },
  {
    id: 'wire-modes-13',
    source: 'wire facts: modes',
    rule: 'Status can be asked for as long as the transaction is retained, and no longer.',
    tests: [
      'test/http/status.test.ts › a transaction that this AP cannot see > is fault 101 in the very same bytes, be it unknown, foreign or past its retention',
      'test/http/status.test.ts › the status of an asynch request > can be asked for again and again, signed or failed, and with a receipt',
    ],
  },
  {
    id: 'wire-modes-14',
    source: 'wire facts: modes',
    rule: 'A status answer has neither MSSP_TransID nor SignatureProfile.',
    tests: [
      'test/http/status.test.ts › the status of an asynch request > is then 500 SIGNATURE with signature, MobileUser and ServiceResponses, without MSSP_TransID and SignatureProfile',
      'test/http/status.test.ts › the status of an asynch request > is 504 OUTSTANDING_TRANSACTION until the user has acted, then the Fault of what the user did',
    ],
  },
  {
    id: 'wire-modes-15',
    source: 'wire facts: modes',
    rule: 'An MSSP_TransID that is unknown, past its retention or of another application is fault 101, with one text for all three.',
    tests: [
      'test/http/status.test.ts › a transaction that this AP cannot see > is fault 101 in the very same bytes, be it unknown, foreign or past its retention',
    ],
  },
  {
    id: 'wire-modes-16',
    source: 'wire facts: modes',
    rule: 'As a client of another service, 100 and 504 both mean that a transaction goes on; 100 is the end of a one-time password alone.',
    tests: [
      'packages/client/test/statuses.test.ts › the status of a 200 > means the same to every call: %s',
      'packages/client/test/statuses.test.ts › the status of a 200 > means the same on the command line: %s',
      'packages/client/test/statuses.test.ts › 100 REQUEST_OK > is the end of a one-time password, however it is asked for',
      'parts/gateway/test/statuses.test.ts › behind a gateway > the status %s is the end at once, or goes on',
    ],
  },
  {
    id: 'wire-modes-17',
    source: 'wire facts: modes',
    rule: 'As a client of another service, 501 is fault 422 and 503 is fault 900 that names it, at once; neither counts as a service that does not work.',
    tests: [
      'packages/client/test/statuses.test.ts › the status of a 200 > means the same to every call: %s',
      'packages/client/test/statuses.test.ts › the status of a 200 > means the same on the command line: %s',
      'parts/gateway/test/statuses.test.ts › behind a gateway > the status %s is the end at once, or goes on',
      'parts/gateway/test/statuses.test.ts › behind a gateway > no answer of the interface opens the circuit breaker',
    ],
  },
  {
    id: 'interface-6-1',
    source: 'interface 6',
    rule: 'Polling the status is enough to hear of any end: callbacks, which the interface does not show, are sent only to an application that has one configured.',
    tests: [
      'parts/callbacks/test/delivery.test.ts › a callback > costs an application without one nothing',
      'test/http/status.test.ts › the status of an asynch request > is 504 OUTSTANDING_TRANSACTION until the user has acted, then the Fault of what the user did',
      'test/http/status.test.ts › the status of an asynch request > can be asked for again and again, signed or failed, and with a receipt',
    ],
  },
  {
    id: 'interface-7.3-2',
    source: 'interface 7.3',
    rule: 'The full list of status codes, which the interface leaves open, is 100, 500, 502 and 504.',
    tests: [
      'test/http/status.test.ts › the status of an asynch request > is 504 OUTSTANDING_TRANSACTION until the user has acted, then the Fault of what the user did',
      'test/http/status.test.ts › the status of an asynch request > is then 500 SIGNATURE with signature, MobileUser and ServiceResponses, without MSSP_TransID and SignatureProfile',
      'test/http/status.test.ts › the status of an asynch request > is 502 VALID_SIGNATURE when the service was asked to verify it',
      'test/http/sign.test.ts › in asynch mode > the sign response carries MSSP_TransID and Status 100 REQUEST_OK, never a signature or ServiceResponses',
    ],
  },
];
