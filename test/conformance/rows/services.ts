/** Additional services: what a request may ask for, and what answers say. */
import type { Row } from '../row.ts';

export const servicesRows: readonly Row[] = [
  {
    id: 'interface-2.2-1',
    source: 'interface 2.2',
    rule: 'Description is required in an AdditionalService.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
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
      'test/protocol/services.test.ts › AdditionalServices > ignore null and the members of other services',
    ],
  },
  {
    id: 'interface-2.2-7',
    source: 'interface 2.2',
    rule: 'UserLang has a Value, a language code.',
    tests: [
      'test/protocol/services.test.ts › userLang > may be %s',
      'test/protocol/services.test.ts › userLang > that is %j is a fault 101',
      'test/protocol/services.test.ts › userLang > cannot do without its member',
    ],
  },
  {
    id: 'interface-2.2-8',
    source: 'interface 2.2',
    rule: 'App2App has a RedirectUri, a URI of the calling app.',
    tests: [
      'test/protocol/services.test.ts › app2app > may lead back to %s',
      'test/protocol/services.test.ts › app2app > may not lead to %j',
      'test/protocol/services.test.ts › app2app > cannot do without its member',
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
      'test/protocol/services.test.ts › AdditionalServices > that are %s are a fault 101',
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
      'test/protocol/services.test.ts › userLang > may be %s',
    ],
  },
  {
    id: 'wire-additional-services-1',
    source: 'wire facts: additional services',
    rule: 'Accuracy is in whole metres.',
    tests: [
      'test/registry/geofencing.test.ts › a location report > gives the accuracy in whole metres',
      'test/http/additional-services.test.ts › geofencing > is answered with Country, Accuracy in whole metres, confidences and Timestamp with offset, all strings',
    ],
  },
  {
    id: 'wire-additional-services-2',
    source: 'wire facts: additional services',
    rule: 'Confidences go from 0 to 1.0.',
    tests: [
      'test/registry/geofencing.test.ts › a location report > writes confidence %d as %s',
      'test/conformance/services.test.ts › the confidences of a geofencing answer > are texts from 0 to 1.0',
    ],
  },
  {
    id: 'wire-additional-services-3',
    source: 'wire facts: additional services',
    rule: 'Timestamp has an offset.',
    tests: [
      'test/http/additional-services.test.ts › geofencing > is answered with Country, Accuracy in whole metres, confidences and Timestamp with offset, all strings',
    ],
  },
  {
    id: 'wire-additional-services-4',
    source: 'wire facts: additional services',
    rule: 'Where there is no location, ErrorCode and ErrorMessage stand alone.',
    tests: [
      'test/http/additional-services.test.ts › geofencing > is answered with ErrorCode and ErrorMessage alone when there is no location, inside the 200',
      'test/conformance/services.test.ts › the error of a geofencing answer > may have the code %s, and has a message and nothing else beside it',
    ],
  },
  {
    id: 'wire-additional-services-5',
    source: 'wire facts: additional services',
    rule: 'ErrorCode is one of 100 to 106, 120 to 123, 200 and 201, since other codes crash a client.',
    tests: [
      'test/conformance/services.test.ts › the error of a geofencing answer > may have the code %s, and has a message and nothing else beside it',
      'test/conformance/services.test.ts › the error of a geofencing answer > cannot be configured to have the code %s',
      'test/conformance/services.test.ts › the error of a geofencing answer > has one of these codes when nobody knows where the device is',
    ],
  },
  {
    id: 'wire-additional-services-6',
    source: 'wire facts: additional services',
    rule: 'A request may add a GeoFencingRequest, with lower-case members.',
    tests: [
      'test/protocol/sign.test.ts › the sample > becomes a request',
      'test/http/additional-services.test.ts › geofencing > whose policy is violated is fault 450: %o',
    ],
  },
  {
    id: 'wire-additional-services-7',
    source: 'wire facts: additional services',
    rule: 'A GeoFencingRequest may be absent.',
    tests: ['test/protocol/services.test.ts › geofencing > may come without a policy'],
  },
  {
    id: 'wire-additional-services-8',
    source: 'wire facts: additional services',
    rule: 'Members of a GeoFencingRequest may be null.',
    tests: [
      'test/protocol/services.test.ts › geofencing > takes null, an empty text and zero for no bound',
      'test/protocol/members.test.ts › %s: %s > may be absent or null',
    ],
  },
  {
    id: 'wire-additional-services-9',
    source: 'wire facts: additional services',
    rule: 'A country that is not on countrywhitelist is fault 450.',
    tests: [
      'test/http/additional-services.test.ts › geofencing > whose policy is violated is fault 450: %o',
      'test/registry/geofencing.test.ts › a geofencing policy > is violated by %s',
    ],
  },
  {
    id: 'wire-additional-services-10',
    source: 'wire facts: additional services',
    rule: 'A country on countryblacklist is fault 450.',
    tests: [
      'test/http/additional-services.test.ts › geofencing > whose policy is violated is fault 450: %o',
      'test/registry/geofencing.test.ts › a geofencing policy > is violated by %s',
    ],
  },
  {
    id: 'wire-additional-services-11',
    source: 'wire facts: additional services',
    rule: 'A device confidence below mindeviceconfidence is fault 450.',
    tests: [
      'test/http/additional-services.test.ts › geofencing > whose policy is violated is fault 450: %o',
      'test/conformance/services.test.ts › the confidences of a geofencing answer > are held against the bounds of the request: one that is too low is fault 450',
    ],
  },
  {
    id: 'wire-additional-services-12',
    source: 'wire facts: additional services',
    rule: 'A location confidence below minlocationconfidence is fault 450.',
    tests: [
      'test/conformance/services.test.ts › the confidences of a geofencing answer > are held against the bounds of the request: one that is too low is fault 450',
    ],
  },
  {
    id: 'wire-additional-services-13',
    source: 'wire facts: additional services',
    rule: 'A location older than maxtimestampminutes is fault 450.',
    tests: [
      'test/http/additional-services.test.ts › geofencing > whose policy is violated is fault 450: %o',
      'test/registry/geofencing.test.ts › a geofencing policy > is violated by %s',
    ],
  },
  {
    id: 'wire-additional-services-14',
    source: 'wire facts: additional services',
    rule: 'A location coarser than maxaccuracymeters is fault 450.',
    tests: [
      'test/http/additional-services.test.ts › geofencing > whose policy is violated is fault 450: %o',
      'test/registry/geofencing.test.ts › a geofencing policy > is violated by %s',
    ],
  },
  {
    id: 'wire-additional-services-15',
    source: 'wire facts: additional services',
    rule: 'A location within the policy is signed for.',
    tests: [
      'test/http/additional-services.test.ts › geofencing > whose policy holds is signed: %o',
      'test/registry/geofencing.test.ts › a geofencing policy > holds at its very bounds, whatever case the countries are in',
    ],
  },
  {
    id: 'wire-additional-services-16',
    source: 'wire facts: additional services',
    rule: 'app2app is for asynch mode only; in synch mode it is fault 101.',
    tests: [
      'test/http/additional-services.test.ts › app2app > is fault 101 in synch mode',
      'test/protocol/services.test.ts › app2app > in synch mode is a fault 101',
    ],
  },
  {
    id: 'wire-additional-services-17',
    source: 'wire facts: additional services',
    rule: 'The asynch answer to app2app carries AuthUri.',
    tests: [
      'test/http/additional-services.test.ts › app2app > is answered in asynch mode with an AuthUri of redirect URI, session token and user id',
    ],
  },
  {
    id: 'wire-additional-services-18',
    source: 'wire facts: additional services',
    rule: 'AuthUri is <scheme>://auth with mobile_auth_redirect_uri, percent-encoded, session_token and user_id, in this order.',
    tests: [
      'test/conformance/services.test.ts › AuthUri > has the scheme mobileid unless another is configured, the path auth, and the RedirectUri percent-encoded',
      'test/http/additional-services.test.ts › app2app > is answered in asynch mode with an AuthUri of redirect URI, session token and user id',
    ],
  },
  {
    id: 'wire-additional-services-19',
    source: 'wire facts: additional services',
    rule: 'user_id of AuthUri is a UUID.',
    tests: [
      'test/http/additional-services.test.ts › app2app > is answered in asynch mode with an AuthUri of redirect URI, session token and user id',
    ],
  },
  {
    id: 'wire-additional-services-20',
    source: 'wire facts: additional services',
    rule: 'The scheme of AuthUri is mobileid, and can be configured.',
    tests: [
      'test/conformance/services.test.ts › AuthUri > has the scheme mobileid unless another is configured, the path auth, and the RedirectUri percent-encoded',
      'test/http/additional-services.test.ts › app2app > is answered in asynch mode with an AuthUri of redirect URI, session token and user id',
    ],
  },
  {
    id: 'wire-additional-services-21',
    source: 'wire facts: additional services',
    rule: 'subscriberInfo is one detail, 1901, with MCC and then MNC.',
    tests: [
      'test/http/additional-services.test.ts › subscriberInfo > says of %s that detail 1901 is MCC then MNC: %s',
    ],
  },
];
