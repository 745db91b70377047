/** Additional services: what a request may ask for, and what answers say. */
import type { Row } from '../row.ts';

export const servicesRows: readonly Row[] = [
  {
    id: 'interface-2.2-1',
    source: 'interface 2.2',
    rule: 'Description is required in an AdditionalService.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-2.2-2',
    source: 'interface 2.2',
    rule: 'The service userLang can be asked for.',
    tests: [
      'test/http/additional-services.test.ts › userLang > is taken in any case, and gets no ServiceResponse: %s',
    ],
  },
  {
    id: 'interface-2.2-3',
    source: 'interface 2.2',
    rule: 'The service geofencing can be asked for.',
    tests: [
      'test/http/additional-services.test.ts › geofencing > is answered with Country, Accuracy in whole metres, confidences and Timestamp with offset, all strings',
    ],
  },
  {
    id: 'interface-2.2-4',
    source: 'interface 2.2',
    rule: 'The service app2app can be asked for.',
    tests: [
      'test/http/additional-services.test.ts › app2app > is answered in asynch mode with an AuthUri of redirect URI, session token and user id',
    ],
  },
  {
    id: 'interface-2.2-5',
    source: 'interface 2.2',
    rule: 'The service subscriberInfo can be asked for.',
    tests: [
      'test/http/additional-services.test.ts › subscriberInfo > says of %s that detail 1901 is MCC then MNC: %s',
    ],
  },
  {
    id: 'interface-2.2-6',
    source: 'interface 2.2',
    rule: 'UserLang and App2App may be absent or null in a service that does not use them.',
    tests: [
      'packages/protocol/test/services.test.ts › AdditionalServices > ignore null and the members of other services',
    ],
  },
  {
    id: 'interface-2.2-7',
    source: 'interface 2.2',
    rule: 'UserLang is optional, also with its own service; where it is, it has a Value, a language code.',
    tests: [
      'packages/protocol/test/services.test.ts › userLang > may be %s',
      'packages/protocol/test/services.test.ts › userLang > that is %j is a fault 101',
      'packages/protocol/test/services.test.ts › userLang > may come without its member, which is optional, and then says nothing',
      'packages/protocol/test/services.test.ts › userLang > needs a Value in its member',
    ],
  },
  {
    id: 'interface-2.2-8',
    source: 'interface 2.2',
    rule: 'App2App has a RedirectUri, a URI of the calling app.',
    tests: [
      'packages/protocol/test/services.test.ts › app2app > may lead back to %s',
      'packages/protocol/test/services.test.ts › app2app > may not lead to %j',
      'packages/protocol/test/services.test.ts › app2app > cannot do without its member',
    ],
  },
  {
    id: 'interface-2.2-9',
    source: 'interface 2.2',
    rule: 'One ServiceResponse answers exactly one service, and its Description says which member is filled.',
    tests: [
      'test/http/additional-services.test.ts › several services > are answered one element each',
      'test/http/additional-services.test.ts › geofencing > is answered with Country, Accuracy in whole metres, confidences and Timestamp with offset, all strings',
      'test/http/additional-services.test.ts › app2app > is answered in asynch mode with an AuthUri of redirect URI, session token and user id',
      'test/http/additional-services.test.ts › subscriberInfo > says of %s that detail 1901 is MCC then MNC: %s',
    ],
  },
  {
    id: 'interface-2.2-10',
    source: 'interface 2.2',
    rule: 'A ServiceResponse is of geofencing, app2app or subscriberInfo, never of userLang.',
    tests: [
      'test/http/additional-services.test.ts › userLang > is taken in any case, and gets no ServiceResponse: %s',
      'test/http/additional-services.test.ts › several services > are answered one element each',
    ],
  },
  {
    id: 'interface-2.2-11',
    source: 'interface 2.2',
    rule: 'Geofencing has Country, Accuracy, DeviceConfidence, LocationConfidence and Timestamp, all strings.',
    tests: [
      'test/http/additional-services.test.ts › geofencing > is answered with Country, Accuracy in whole metres, confidences and Timestamp with offset, all strings',
    ],
  },
  {
    id: 'interface-2.2-12',
    source: 'interface 2.2',
    rule: 'Timestamp of Geofencing is a date-time.',
    tests: [
      'test/http/additional-services.test.ts › geofencing > is answered with Country, Accuracy in whole metres, confidences and Timestamp with offset, all strings',
      'test/registry/geofencing.test.ts › a location report > gives every value as a string, and the time of the fix with an offset',
    ],
  },
  {
    id: 'interface-2.2-13',
    source: 'interface 2.2',
    rule: 'A Geofencing with an ErrorCode is an error, and has an ErrorMessage.',
    tests: [
      'test/http/additional-services.test.ts › geofencing > is answered with ErrorCode and ErrorMessage alone when there is no location, inside the 200',
    ],
  },
  {
    id: 'interface-2.2-14',
    source: 'interface 2.2',
    rule: "AuthUri is a URI of the app's scheme with redirect URI, session token and user id in its query.",
    tests: [
      'test/http/additional-services.test.ts › app2app > is answered in asynch mode with an AuthUri of redirect URI, session token and user id',
    ],
  },
  {
    id: 'interface-2.2-15',
    source: 'interface 2.2',
    rule: 'Details of SubscriberInfo is an array of id and value.',
    tests: [
      'test/http/additional-services.test.ts › subscriberInfo > says of %s that detail 1901 is MCC then MNC: %s',
    ],
  },
  {
    id: 'interface-2.2-16',
    source: 'interface 2.2',
    rule: 'Detail 1901 is MCC and MNC of the subscriber.',
    tests: [
      'test/http/additional-services.test.ts › subscriberInfo > says of %s that detail 1901 is MCC then MNC: %s',
    ],
  },
  {
    id: 'interface-7.4-1',
    source: 'interface 7.4',
    rule: 'An error of geofencing is told by ErrorCode and ErrorMessage inside the 200 response.',
    tests: [
      'test/http/additional-services.test.ts › geofencing > is answered with ErrorCode and ErrorMessage alone when there is no location, inside the 200',
      'test/conformance/services.test.ts › the error of a geofencing answer > may have the code %s, and has a message and nothing else beside it',
    ],
  },
  {
    id: 'wire-requests-56',
    source: 'wire facts: requests',
    rule: 'The ETSI service validate is accepted, although the interface does not list it.',
    tests: [
      'test/http/additional-services.test.ts › validate > has the service verify the signature and say 502 VALID_SIGNATURE, without a ServiceResponse',
    ],
  },
  {
    id: 'wire-requests-57',
    source: 'wire facts: requests',
    rule: 'With validate the service verifies the signature before it answers, and says 502 VALID_SIGNATURE in place of 500.',
    tests: [
      'test/http/additional-services.test.ts › validate > has the service verify the signature and say 502 VALID_SIGNATURE, without a ServiceResponse',
      'test/http/status.test.ts › the status of an asynch request > is 502 VALID_SIGNATURE when the service was asked to verify it',
    ],
  },
  {
    id: 'wire-requests-58',
    source: 'wire facts: requests',
    rule: 'Any other unknown service is fault 101.',
    tests: [
      'test/http/additional-services.test.ts › several services > may not hold an unknown one: %s is fault 101',
      'packages/protocol/test/services.test.ts › AdditionalServices > that are %s are a fault 101',
    ],
  },
  {
    id: 'wire-requests-59',
    source: 'wire facts: requests',
    rule: 'userLang gets no ServiceResponse.',
    tests: [
      'test/http/additional-services.test.ts › userLang > is taken in any case, and gets no ServiceResponse: %s',
    ],
  },
  {
    id: 'wire-requests-60',
    source: 'wire facts: requests',
    rule: 'Language codes are accepted in any case.',
    tests: [
      'test/http/additional-services.test.ts › userLang > is taken in any case, and gets no ServiceResponse: %s',
      'packages/protocol/test/services.test.ts › userLang > may be %s',
    ],
  },
];
