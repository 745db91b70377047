/**
 * The life of a transaction: TimeOut, MSSP_TransID, requests that are sent twice, and the messaging
 * modes.
 */
import type { Row } from '../row.ts';

export const transactionsRows: readonly Row[] = [
  {
    id: 'wire-requests-43',
    source: 'wire facts: requests',
    rule: 'TimeOut is a decimal integer, written as a string.',
    tests: [
      'packages/protocol/test/sign.test.ts › TimeOut > may be %s',
      'packages/protocol/test/sign.test.ts › TimeOut > that is %j is a fault 101',
    ],
  },
  {
    id: 'wire-requests-44',
    source: 'wire facts: requests',
    rule: 'TimeOut counts seconds.',
    tests: [
      'test/queue/scheduled.test.ts › the deadline of a scheduled request > is TimeOut after its time, however late it is taken',
      'test/workers/signature.worker.test.ts › the deadline > ends a transaction that nobody answered with fault 208',
    ],
  },
  {
    id: 'wire-requests-45',
    source: 'wire facts: requests',
    rule: 'The bounds of TimeOut come from the configuration and are 1 and 300 by default.',
    tests: [
      'test/http/sign.test.ts › a request > with TimeOut %s, beyond the bounds of 2 to 90 seconds that are configured, is fault 101',
      'packages/protocol/test/sign.test.ts › TimeOut > that is %j is a fault 101',
      'test/app/configuration/load.test.ts › a configuration > has a default for every key',
    ],
  },
  {
    id: 'wire-requests-46',
    source: 'wire facts: requests',
    rule: 'A transaction whose TimeOut is over ends with fault 208.',
    tests: [
      'test/workers/signature.worker.test.ts › the deadline > ends a transaction that nobody answered with fault 208',
      'test/workers/signature.worker.test.ts › the deadline > answers a synchronous caller with fault 208',
      'test/http/status.test.ts › the status of an asynch request > is 504 OUTSTANDING_TRANSACTION until the user has acted, then the Fault of what the user did',
    ],
  },
  {
    id: 'wire-requests-47',
    source: 'wire facts: requests',
    rule: 'MessagingMode is exactly synch or asynch.',
    tests: ['packages/protocol/test/sign.test.ts › MessagingMode > that is %j is a fault 101'],
  },
  {
    id: 'wire-requests-48',
    source: 'wire facts: requests',
    rule: 'AdditionalServices has to be there and may be empty.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/services.test.ts › AdditionalServices > may be empty',
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
      'test/http/concurrency.e2e.test.ts › a robot > serves any number of requests at once',
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
      'test/http/concurrency.e2e.test.ts › the same request sent twice > while the first is open is one transaction, whose signature both callers get',
      'test/http/concurrency.e2e.test.ts › several processes of one service > share transactions, keys and duplicates, whoever is asked and whoever works',
    ],
  },
  {
    id: 'wire-requests-53',
    source: 'wire facts: requests',
    rule: 'A request that joins makes no second prompt on the phone.',
    tests: [
      'test/http/concurrency.e2e.test.ts › the same request sent twice > is one prompt on the phone, not a busy SIM',
    ],
  },
  {
    id: 'wire-requests-54',
    source: 'wire facts: requests',
    rule: 'Requests are the same when AP_ID, AP_TransID, Instant and content are.',
    tests: [
      'test/http/concurrency.e2e.test.ts › the same request sent twice > but for another %s is another transaction',
      'test/http/concurrency.e2e.test.ts › the same request sent twice > written differently, with the Instant in another zone and members in another order, is still the same',
    ],
  },
  {
    id: 'wire-requests-55',
    source: 'wire facts: requests',
    rule: 'After the first has ended, the same request is a new transaction; against that it gets the end of the first for its TimeOut and a minute more, so that nobody is asked again for a caller that lost the answer.',
    tests: [
      'test/http/concurrency.e2e.test.ts › the same request sent twice > after the first has %s gets that end, and asks nobody again',
      'test/http/concurrency.e2e.test.ts › the same request sent twice > after a synchronous one has %s is answered the same at once, with no worker there',
      'test/http/concurrency.e2e.test.ts › the same request sent twice > joins the transaction that has ended for its TimeOut and a minute more',
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
      'test/http/concurrency.e2e.test.ts › a SIM > that is busy shows through status in asynch mode',
    ],
  },
];
