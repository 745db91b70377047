/** What travels: addresses, methods, media types and the form of every answer. */
import type { Row } from '../row.ts';

export const transportRows: readonly Row[] = [
  {
    id: 'interface-1-1',
    source: 'interface 1',
    rule: "An application names a mobile user by MSISDN and data, and has the user sign that data on the user's own device.",
    tests: [
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
    ],
  },
  {
    id: 'interface-1-2',
    source: 'interface 1',
    rule: 'A signature can be asked for synchronously, or asynchronously and then polled through status.',
    tests: [
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
      'test/http/status.test.ts › the status of an asynch request > is then 500 SIGNATURE with signature, MobileUser and ServiceResponses, without MSSP_TransID and SignatureProfile',
    ],
  },
  {
    id: 'interface-1-3',
    source: 'interface 1',
    rule: 'After a successful signature the application can send a receipt, and at any time it can ask what a user can sign with.',
    tests: [
      'test/http/receipt.test.ts › the receipt response > is 200 with Status 100 REQUEST_OK when the user %s',
      'test/http/profile.test.ts › Params > that are empty give the list of profiles alone',
    ],
  },
  {
    id: 'interface-1-4',
    source: 'interface 1',
    rule: 'User language, geofencing, app-to-app and subscriber information are services that a sign request may add or leave out.',
    tests: [
      'test/http/additional-services.test.ts › several services > are answered one element each',
      'test/http/additional-services.test.ts › app2app > is answered in asynch mode with an AuthUri of redirect URI, session token and user id',
      'packages/protocol/test/services.test.ts › AdditionalServices > may be empty',
    ],
  },
  {
    id: 'interface-1-5',
    source: 'interface 1',
    rule: 'Each request has a response wrapper of its own, and is answered with that one.',
    tests: [
      'test/http/sign.test.ts › the URL for all operations > goes by the wrapper of the body',
      'test/http/fuzz.e2e.test.ts › whatever is sent > with members changed at random is answered well, or with a Fault of the table',
    ],
  },
  {
    id: 'interface-4-1',
    source: 'interface 4',
    rule: 'Each operation has its address below the base URL: /rest/service/ and then sign, status, receipt or profile.',
    tests: [
      'test/conformance/answers.test.ts › a %s request > is answered with its own AP_ID, AP_TransID and Instant, normalised to UTC, and never with AP_PWD',
      'test/http/openapi.test.ts › the document > has the addresses of the interface and those for machines',
    ],
  },
  {
    id: 'interface-4-2',
    source: 'interface 4',
    rule: 'The operations are called by POST and by no other method.',
    tests: [
      'test/http/hostile.test.ts › a method > other than POST is 405 with Allow and a Fault: %s',
    ],
  },
  {
    id: 'interface-4-3',
    source: 'interface 4',
    rule: "A request's body is JSON of the media type application/json.",
    tests: [
      'test/http/hostile.test.ts › a media type > other than JSON in UTF-8 is fault 101: %s',
      'test/http/hostile.test.ts › a media type > of JSON is accepted however it is written: %s',
    ],
  },
  {
    id: 'interface-4-4',
    source: 'interface 4',
    rule: 'A request without a body is refused.',
    tests: [
      'test/http/hostile.test.ts › a body that is no request > is a Fault at every URL: %s',
      'test/http/openapi.test.ts › the document > requires the body of each request and describes 200, 405 and 500',
    ],
  },
  {
    id: 'interface-4-5',
    source: 'interface 4',
    rule: 'Success is HTTP 200, and the Status inside tells the outcome.',
    tests: [
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
      'test/http/receipt.test.ts › the receipt response > is 200 with Status 100 REQUEST_OK when the user %s',
    ],
  },
  {
    id: 'interface-4-6',
    source: 'interface 4',
    rule: 'Failure is HTTP 500 with a Fault for a body.',
    tests: [
      'test/http/sign.test.ts › in synch mode > a failed signature is HTTP 500 with the Fault',
      'test/http/faults.test.ts › the test number of %i > faults with it at receipt and profile',
    ],
  },
  {
    id: 'interface-9-1',
    source: 'interface 9',
    rule: 'No address carries a version.',
    tests: [
      'test/http/openapi.test.ts › the document > has the addresses of the interface and those for machines',
      'test/http/hostile.test.ts › a method > at a URL that is none is a Fault: %s',
    ],
  },
  {
    id: 'interface-9-2',
    source: 'interface 9',
    rule: 'The description of the interface has the version 1.0.1.',
    tests: ['test/http/openapi.test.ts › the document > carries the version of the interface'],
  },
  {
    id: 'wire-transport-1',
    source: 'wire facts: transport',
    rule: 'Besides the four addresses there is one for all operations, which goes by the single wrapper of the body.',
    tests: [
      'test/http/sign.test.ts › the URL for all operations > goes by the wrapper of the body',
      'packages/protocol/test/parse.test.ts › operationOf > knows %s by its wrapper, whatever else the body has',
    ],
  },
  {
    id: 'wire-transport-2',
    source: 'wire facts: transport',
    rule: 'A body with no wrapper, an unknown one or several of them is fault 101.',
    tests: [
      'packages/protocol/test/parse.test.ts › operationOf > refuses %s with fault 101',
      'test/http/hostile.test.ts › a body that is no request > is a Fault at every URL: %s',
    ],
  },
  {
    id: 'wire-transport-3',
    source: 'wire facts: transport',
    rule: 'At the address of one operation the wrapper of another is fault 101.',
    tests: [
      'test/http/sign.test.ts › the URL for all operations > is the only one for them all: at /rest/service/%s any other wrapper is fault 101',
    ],
  },
  {
    id: 'wire-transport-4',
    source: 'wire facts: transport',
    rule: 'A POST to these addresses is answered with 200 and one response wrapper or with 500 and a Fault, whatever was sent.',
    tests: [
      'test/http/fuzz.e2e.test.ts › whatever is sent > with members changed at random is answered well, or with a Fault of the table',
      'test/http/fuzz.e2e.test.ts › whatever is sent > with bytes changed at random is answered well, or with a Fault of the table',
      'test/http/fuzz.e2e.test.ts › whatever is sent > as bytes that are no request at all is answered with a Fault of the table',
    ],
  },
  {
    id: 'wire-transport-5',
    source: 'wire facts: transport',
    rule: 'Every answer has the Content-Type application/json;charset=UTF-8, Faults included.',
    tests: [
      'test/http/sign.test.ts › in synch mode > a failed signature is HTTP 500 with the Fault',
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
    ],
  },
  {
    id: 'wire-transport-6',
    source: 'wire facts: transport',
    rule: 'Malformed JSON is a Fault.',
    tests: [
      'test/http/hostile.test.ts › a body that is no request > is a Fault at every URL: %s',
      'packages/protocol/test/json.test.ts › parseJson > refuses %s with fault 101',
    ],
  },
  {
    id: 'wire-transport-7',
    source: 'wire facts: transport',
    rule: 'A wrong content type is a Fault.',
    tests: ['test/http/hostile.test.ts › a media type > other than JSON in UTF-8 is fault 101: %s'],
  },
  {
    id: 'wire-transport-8',
    source: 'wire facts: transport',
    rule: 'An oversized body is fault 103.',
    tests: [
      'test/http/hostile.test.ts › a body that is no request > is a Fault at every URL: %s',
      'test/http/hostile-connection.e2e.test.ts › a body that is too large > of %i MB, announced, is fault 103 although it is not sent',
      'test/http/hostile-connection.e2e.test.ts › a body that is too large > of 1 MB in chunks is fault 103',
    ],
  },
  {
    id: 'wire-transport-9',
    source: 'wire facts: transport',
    rule: 'An internal error is fault 900.',
    tests: [
      'test/http/redis-away.test.ts › while Redis is stopped > every operation answers Fault 900 within a moment, and readyz is 503 while livez is 200',
      'test/workers/adversity.test.ts › trouble > that lasts until the deadline is an internal error, not the silence of the user',
    ],
  },
  {
    id: 'wire-transport-10',
    source: 'wire facts: transport',
    rule: 'An unknown content coding such as UTF-8 is ignored.',
    tests: [
      'test/http/hostile-connection.e2e.test.ts › malformed HTTP > does not come about by an odd but valid request, which is served: %s',
      'test/http/hostile.test.ts › a media type > of JSON is accepted however it is written: %s',
    ],
  },
  {
    id: 'wire-transport-11',
    source: 'wire facts: transport',
    rule: 'A request need not have an Accept header.',
    tests: [
      'test/http/hostile-connection.e2e.test.ts › one connection > serves requests that are sent in one go, in their order',
    ],
  },
  {
    id: 'wire-transport-12',
    source: 'wire facts: transport',
    rule: 'Answers are compact JSON.',
    tests: [
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
      'test/http/recorded.test.ts › is answered as the live server did: %s',
    ],
  },
  {
    id: 'wire-transport-13',
    source: 'wire facts: transport',
    rule: 'Members of an answer stand in ASCII order at every level.',
    tests: [
      'packages/protocol/test/json.test.ts › toCanonicalJson > writes members in ASCII order at every level, even names that look like indexes',
      'packages/protocol/test/recorded.test.ts › %s > has a response whose order of members is canonical',
      'test/http/recorded.test.ts › is answered as the live server did: %s',
    ],
  },
  {
    id: 'wire-transport-14',
    source: 'wire facts: transport',
    rule: 'Status is the last member of each response wrapper.',
    tests: [
      'test/http/sign.test.ts › in synch mode > the sign response to %s carries the signature and Status 500 SIGNATURE',
      'test/http/status.test.ts › the status of an asynch request > is then 500 SIGNATURE with signature, MobileUser and ServiceResponses, without MSSP_TransID and SignatureProfile',
      'test/http/receipt.test.ts › the receipt response > repeats AP_Info and MSSP_ID of its request, in version 1.1',
      'test/http/recorded.test.ts › is answered as the live server did: %s',
    ],
  },
  {
    id: 'wire-transport-15',
    source: 'wire facts: transport',
    rule: 'Status codes, versions, UserAck and confidences are written as strings.',
    tests: [
      'test/http/recorded.test.ts › is answered as the live server did: %s',
      'test/http/additional-services.test.ts › geofencing > is answered with Country, Accuracy in whole metres, confidences and Timestamp with offset, all strings',
      'test/http/receipt.test.ts › the receipt response > is 200 with Status 100 REQUEST_OK when the user %s',
    ],
  },
  {
    id: 'wire-transport-16',
    source: 'wire facts: transport',
    rule: 'Numbers and flags that a request must write as strings are refused as anything else.',
    tests: ['packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j'],
  },
  {
    id: 'wire-transport-17',
    source: 'wire facts: transport',
    rule: 'Blocked, AutoActivation and RecoveryCodeCreated are booleans.',
    tests: [
      'test/http/profile.test.ts › Params > switch on their part of the answer, each by itself: %s',
      'test/conformance/profile.test.ts › the states of a user who can sign with another device > do not hide that a PIN is blocked, told as a boolean',
    ],
  },
  {
    id: 'wire-transport-18',
    source: 'wire facts: transport',
    rule: 'Content-Type may name UTF-8 as utf8, us-ascii or ascii, and the addresses may end in a slash.',
    tests: [
      'test/http/spelling.test.ts › a Content-Type > may say charset=%s',
      'test/http/spelling.test.ts › the address of the service > may end in a slash',
      'test/http/spelling.test.ts › the address of the service > that ends in a slash is answered like the other, also when it is used wrongly',
    ],
  },
  {
    id: 'wire-transport-19',
    source: 'wire facts: transport',
    rule: 'A compressed body is fault 101 that says so; the name of a compression before a body that is none is ignored.',
    tests: [
      'test/http/spelling.test.ts › a body that is compressed > is fault 101 that says so: %s',
      'test/http/spelling.test.ts › a body that is compressed > is no matter where only the header says so, which some clients fill with anything',
    ],
  },
  {
    id: 'wire-requests-61',
    source: 'wire facts: requests',
    rule: 'MimeType and Encoding count whatever their case.',
    tests: [
      'test/http/spelling.test.ts › MimeType and Encoding > count whatever their case: %s, %s',
      'test/http/spelling.test.ts › MimeType and Encoding > make no other request of an equal one',
      'test/http/spelling.test.ts › MimeType and Encoding > of an approval count whatever their case',
    ],
  },
  {
    id: 'wire-requests-62',
    source: 'wire facts: requests',
    rule: 'A member with a list of values that is no string is fault 101 that says which type it must have.',
    tests: [
      'test/http/spelling.test.ts › a member of another type > of a %s request is fault 101 that says which type it must have: %#',
    ],
  },
  {
    id: 'wire-modes-20',
    source: 'wire facts: modes',
    rule: 'As a client of another service, every request accepts JSON, and every sign request of a gateway names a userLang.',
    tests: [
      'packages/client/test/client.test.ts › another service of the interface > is told that the answer is to be JSON, at each operation',
      'parts/gateway/test/statuses.test.ts › a request to the other service > names a language and accepts JSON: %s',
    ],
  },
];
