/** What each fault code stands for. */
import type { Row } from '../row.ts';

export const faultCodesRows: readonly Row[] = [
  {
    id: 'wire-faults-1',
    source: 'wire facts: faults',
    rule: 'Code.ValueNs is the namespace of SOAP 1.2 envelopes.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'wire-faults-2',
    source: 'wire facts: faults',
    rule: 'SubCode.ValueNs is the namespace of TS 102 204 version 1.1.2.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'wire-faults-3',
    source: 'wire facts: faults',
    rule: 'SubCode.Value is an underscore before the code.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'wire-faults-4',
    source: 'wire facts: faults',
    rule: '101 is WRONG_PARAM of the Sender, for a bad value; its Detail names the member.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'wire-faults-5',
    source: 'wire facts: faults',
    rule: '102 is MISSING_PARAM of the Sender, for a member that is absent; its Detail names the member.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'wire-faults-6',
    source: 'wire facts: faults',
    rule: '103 is WRONG_DATA_LENGTH of the Sender, for data that is too long; its Detail tells the limit and its kind.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'packages/protocol/test/data-to-be-signed.test.ts › DataToBeSigned > of %s is a fault 103',
      'packages/protocol/test/approval.test.ts › a transaction approval > with %s is a fault 103',
    ],
  },
  {
    id: 'wire-faults-7',
    source: 'wire facts: faults',
    rule: '103 is also for a body that is too large; its Detail tells the limit.',
    tests: [
      'test/http/hostile-connection.e2e.test.ts › a body that is too large > of %i MB, announced, is fault 103 although it is not sent',
    ],
  },
  {
    id: 'wire-faults-8',
    source: 'wire facts: faults',
    rule: '104 is UNAUTHORIZED_ACCESS of the Sender, for an unknown application.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/application-provider.test.ts › an AP_ID > that nobody registered is fault 104, in the very bytes of a wrong password',
    ],
  },
  {
    id: 'wire-faults-9',
    source: 'wire facts: faults',
    rule: '104 is for a wrong AP_PWD.',
    tests: [
      'test/http/application-provider.test.ts › AP_PWD > that is wrong, missing, empty or overlong is the same fault 104 at every operation',
    ],
  },
  {
    id: 'wire-faults-10',
    source: 'wire facts: faults',
    rule: '104 is for a wrong client certificate.',
    tests: [
      'test/http/client-certificate.test.ts › an AP that is registered with a certificate > is fault 104 with another certificate, without one, and with a forged header',
      'test/http/tls.test.ts › over TLS > it is fault 104 without a certificate, and with another one',
    ],
  },
  {
    id: 'wire-faults-11',
    source: 'wire facts: faults',
    rule: 'The Detail of 104 is generic: it does not tell an unknown application from a wrong password or certificate.',
    tests: [
      'test/http/application-provider.test.ts › an AP_ID > that nobody registered is fault 104, in the very bytes of a wrong password',
      'test/registry/application-providers.test.ts › an application provider > gets one and the same fault 104 for whatever is wrong with its identity',
    ],
  },
  {
    id: 'wire-faults-12',
    source: 'wire facts: faults',
    rule: '104 is for a service that the application has not subscribed to.',
    tests: [
      'test/http/application-provider.test.ts › an AP > that has not subscribed to a service gets fault 104',
    ],
  },
  {
    id: 'wire-faults-13',
    source: 'wire facts: faults',
    rule: '105 is UNKNOWN_CLIENT of the Sender with the Detail MSISDN is unknown.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/profile.test.ts › a user who cannot be asked > is fault 105 when unknown or without an SSCD: %s',
    ],
  },
  {
    id: 'wire-faults-14',
    source: 'wire facts: faults',
    rule: '107 is INAPPROPRIATE_DATA of the Sender with the Detail DTBD matching failed, for data without the mandatory prefix.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/application-provider.test.ts › an AP > with a mandatory prefix gets fault 107 for data without it',
    ],
  },
  {
    id: 'wire-faults-15',
    source: 'wire facts: faults',
    rule: '107 is also for a type that is not supported, and says so.',
    tests: [
      'packages/protocol/test/data-to-be-signed.test.ts › DataToBeSigned > with another %s is a fault 107',
    ],
  },
  {
    id: 'wire-faults-16',
    source: 'wire facts: faults',
    rule: '108 is INCOMPATIBLE_INTERFACE of the Sender; its Detail tells the versions expected.',
    tests: [
      'test/conformance/versions.test.ts › in a %s request, %s alone > that is %s is fault 108, which tells the versions expected',
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'packages/protocol/test/sign.test.ts › versions > of %s: other values of %s are a fault 108',
    ],
  },
  {
    id: 'wire-faults-17',
    source: 'wire facts: faults',
    // Of the unknown profile: the published table of fault codes.
    rule: '109 is UNSUPPORTED_PROFILE of the Receiver, for a profile that is unknown, that no device of the user serves, or that the application may not use.',
    tests: [
      'test/http/signature-profile.test.ts › a profile that the interface does not list > is fault 109: %s',
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
      'test/http/application-provider.test.ts › an AP > that is not allowed a profile gets fault 109, at sign in both modes',
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'wire-faults-18',
    source: 'wire facts: faults',
    rule: '208 is EXPIRED_TRANSACTION of the Receiver, for a user who did not answer within TimeOut.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/recorded.test.ts › is answered as the live server did: %s',
      'test/workers/signature.worker.test.ts › the deadline > ends a transaction that nobody answered with fault 208',
    ],
  },
  {
    id: 'wire-faults-19',
    source: 'wire facts: faults',
    rule: '209 is OTA_ERROR of the Receiver, for a phone that cannot be reached.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/signature-profile.test.ts › a one-time password whose text cannot be sent > is tried until TimeOut, and is then fault 209 OTA_ERROR',
    ],
  },
  {
    id: 'wire-faults-20',
    source: 'wire facts: faults',
    rule: '401 is USER_CANCEL of the Receiver with the Detail User cancelled the request.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'wire-faults-21',
    source: 'wire facts: faults',
    rule: '402 is PIN_BLOCKED of the Receiver with the Detail PIN of the mobile user is blocked.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/profile.test.ts › a user who cannot be asked > faults alike in profile and sign: %s %o is %s',
    ],
  },
  {
    id: 'wire-faults-22',
    source: 'wire facts: faults',
    rule: '403 is CARD_BLOCKED of the Receiver, for a suspended user.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/profile.test.ts › a user who cannot be asked > faults alike in profile and sign: %s %o is %s',
    ],
  },
  {
    id: 'wire-faults-23',
    source: 'wire facts: faults',
    rule: '404 is NO_KEY_FOUND of the Receiver with the Detail Mobile user account needs to be activated.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/profile.test.ts › a user who cannot be asked > faults alike in profile and sign: %s %o is %s',
    ],
  },
  {
    id: 'wire-faults-24',
    source: 'wire facts: faults',
    rule: '406 is PB_SIGNATURE_PROCESS of the Receiver with the Detail Signature request already in progress.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/concurrency.e2e.test.ts › a SIM > that shows a prompt makes a second request fault 406 at once',
    ],
  },
  {
    id: 'wire-faults-25',
    source: 'wire facts: faults',
    rule: '422 is NO_CERT_FOUND of the Receiver with the Detail Certificate is expired.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/profile.test.ts › a user who cannot be asked > faults alike in profile and sign: %s %o is %s',
    ],
  },
  {
    id: 'wire-faults-26',
    source: 'wire facts: faults',
    rule: '450 is GEOFENCING_POLICY_VIOLATION of the Receiver.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/additional-services.test.ts › geofencing > whose policy is violated is fault 450: %o',
    ],
  },
  {
    id: 'wire-faults-27',
    source: 'wire facts: faults',
    rule: '900 is INTERNAL_ERROR of the Receiver with the Detail Unknown Error.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
      'test/http/redis-away.test.ts › while Redis is stopped > every operation answers Fault 900 within a moment, and readyz is 503 while livez is 200',
    ],
  },
  {
    id: 'wire-faults-28',
    source: 'wire facts: faults',
    rule: 'Nothing of the inside shows in an answer.',
    tests: [
      'test/workers/adversity.test.ts › trouble > that lasts until the deadline is an internal error, not the silence of the user',
      'test/http/redis-away.test.ts › while Redis is stopped > every operation answers Fault 900 within a moment, and readyz is 503 while livez is 200',
    ],
  },
  {
    id: 'wire-faults-29',
    source: 'wire facts: faults',
    rule: 'The test number of a code answers with the Detail of the published table of test numbers, that of 208 with the Detail of the recorded answers.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'interface-7.3-1',
    source: 'interface 7.3',
    rule: 'Other fault codes, which the interface leaves open, are those of one table, whatever is sent.',
    tests: [
      'test/http/fuzz.e2e.test.ts › whatever is sent > with members changed at random is answered well, or with a Fault of the table',
      'test/http/fuzz.e2e.test.ts › whatever is sent > as bytes that are no request at all is answered with a Fault of the table',
      'packages/protocol/test/mutation.test.ts › a spoiled %s request > never throws, and ends well or in a fault of the table that repeats no value',
    ],
  },
];
