/**
 * Additional services, where the live service and its clients are more exact: geofencing, app2app,
 * subscriberInfo.
 */
import type { Row } from '../row.ts';

export const additionalServicesRows: readonly Row[] = [
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
      'packages/protocol/test/sign.test.ts › the sample > becomes a request',
      'test/http/additional-services.test.ts › geofencing > whose policy is violated is fault 450: %o',
    ],
  },
  {
    id: 'wire-additional-services-7',
    source: 'wire facts: additional services',
    rule: 'A GeoFencingRequest may be absent.',
    tests: ['packages/protocol/test/services.test.ts › geofencing > may come without a policy'],
  },
  {
    id: 'wire-additional-services-8',
    source: 'wire facts: additional services',
    rule: 'Members of a GeoFencingRequest may be null.',
    tests: [
      'packages/protocol/test/services.test.ts › geofencing > takes null, an empty text and zero for no bound',
      'packages/protocol/test/members.test.ts › %s: %s > may be absent or null',
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
      'packages/protocol/test/services.test.ts › app2app > in synch mode is a fault 101',
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
  {
    id: 'wire-additional-services-22',
    source: 'wire facts: additional services',
    rule: 'app2app has the App asked, also of a user with SIM and App, unless the profile is one for the SIM: that is fault 109.',
    tests: [
      'test/http/signature-profile.test.ts › app2app > has %s ask the App of a user with SIM and App, whose signature it is',
      'test/http/signature-profile.test.ts › app2app > with %s of %s, whom no App can serve, is fault %i',
    ],
  },
];
