/** Signature profiles: which device a request leads to, and how many requests a device takes. */
import type { Row } from '../row.ts';

export const signatureProfilesRows: readonly Row[] = [
  {
    id: 'interface-2.1-17',
    source: 'interface 2.1',
    rule: 'SignatureProfile may be Any-LoA4.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
    ],
  },
  {
    id: 'interface-2.1-18',
    source: 'interface 2.1',
    rule: 'SignatureProfile may be MID/v1/AuthProfile1.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
    ],
  },
  {
    id: 'interface-2.1-19',
    source: 'interface 2.1',
    rule: 'SignatureProfile may be STK-LoA4.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
    ],
  },
  {
    id: 'interface-2.1-20',
    source: 'interface 2.1',
    rule: 'SignatureProfile may be Device-LoA4.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
    ],
  },
  {
    id: 'interface-2.1-21',
    source: 'interface 2.1',
    rule: 'SignatureProfile may be MID/v1/AuthProfile1.ECC.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
    ],
  },
  {
    id: 'interface-2.1-22',
    source: 'interface 2.1',
    rule: 'SignatureProfile may be MID/v1/AuthProfile1.RSA.',
    tests: [
      'test/http/signature-profile.test.ts › the profile of a kind of key > is served by the SIM if its key is of that kind, else it is fault 109',
    ],
  },
  {
    id: 'interface-2.1-23',
    source: 'interface 2.1',
    rule: 'SignatureProfile may be Any-Geofencing-LoA4.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
    ],
  },
  {
    id: 'interface-2.1-24',
    source: 'interface 2.1',
    rule: 'SignatureProfile may be MID/v1/OtpProfileFlash.',
    tests: [
      'test/http/signature-profile.test.ts › %s > delivers the text to any number: Status 100 REQUEST_OK, no signature',
    ],
  },
  {
    id: 'interface-2.1-25',
    source: 'interface 2.1',
    rule: 'SignatureProfile may be MID/v1/OtpProfileText.',
    tests: [
      'test/http/signature-profile.test.ts › %s > delivers the text to any number: Status 100 REQUEST_OK, no signature',
    ],
  },
  {
    id: 'interface-2.1-26',
    source: 'interface 2.1',
    rule: 'SignatureProfile may be nothing else.',
    tests: [
      'test/http/signature-profile.test.ts › a profile that the interface does not list > is fault 109: %s',
      'packages/protocol/test/sign.test.ts › SignatureProfile > that is %s is a fault 109',
    ],
  },
  {
    id: 'wire-signature-profiles-1',
    source: 'wire facts: signature profiles',
    rule: 'Any-LoA4 asks the SIM, or the App of a user without a SIM.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
      'test/registry/profile-selection.test.ts › the choice of a method > serves %s for no SSCD, SIM, App, and both with %s, %s, %s, %s',
    ],
  },
  {
    id: 'wire-signature-profiles-2',
    source: 'wire facts: signature profiles',
    rule: 'MID/v1/AuthProfile1 asks the SIM, or the App of a user without a SIM.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
      'test/registry/profile-selection.test.ts › the choice of a method > serves %s for no SSCD, SIM, App, and both with %s, %s, %s, %s',
    ],
  },
  {
    id: 'wire-signature-profiles-3',
    source: 'wire facts: signature profiles',
    rule: 'STK-LoA4 asks the SIM; for a user with an App alone it is fault 109.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
      'test/registry/profile-selection.test.ts › the choice of a method > serves %s for no SSCD, SIM, App, and both with %s, %s, %s, %s',
    ],
  },
  {
    id: 'wire-signature-profiles-4',
    source: 'wire facts: signature profiles',
    rule: 'Device-LoA4 asks the App; for a user with a SIM alone it is fault 109.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
      'test/registry/profile-selection.test.ts › the choice of a method > serves %s for no SSCD, SIM, App, and both with %s, %s, %s, %s',
    ],
  },
  {
    id: 'wire-signature-profiles-5',
    source: 'wire facts: signature profiles',
    rule: 'MID/v1/AuthProfile1.ECC and .RSA ask the SIM if its key is of that kind; otherwise they are fault 109.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
      'test/http/signature-profile.test.ts › the profile of a kind of key > is served by the SIM if its key is of that kind, else it is fault 109',
    ],
  },
  {
    id: 'wire-signature-profiles-6',
    source: 'wire facts: signature profiles',
    rule: 'For MID/v1/AuthProfile1.ECC and .RSA an App changes nothing.',
    tests: [
      'test/conformance/workflow.test.ts › a user with an RSA key on the SIM and an EC key in the App > is treated as by the SIM alone when a kind of key is asked for',
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
    ],
  },
  {
    id: 'wire-signature-profiles-7',
    source: 'wire facts: signature profiles',
    rule: 'Any-Geofencing-LoA4 asks a SIM that can be located, otherwise the App; without either it is fault 109.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
      'test/http/signature-profile.test.ts › the geofencing profile > is fault 109 when the SIM cannot be located and there is no App, which would be asked instead',
    ],
  },
  {
    id: 'wire-signature-profiles-8',
    source: 'wire facts: signature profiles',
    rule: 'A user without any SSCD is fault 105 for each of these profiles.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
    ],
  },
  {
    id: 'wire-signature-profiles-9',
    source: 'wire facts: signature profiles',
    rule: 'OtpProfileText delivers the text as a text message, OtpProfileFlash as a flash message.',
    tests: [
      'test/http/signature-profile.test.ts › %s > delivers the text to any number: Status 100 REQUEST_OK, no signature',
    ],
  },
  {
    id: 'wire-signature-profiles-10',
    source: 'wire facts: signature profiles',
    rule: 'One-time passwords need a number and no SSCD.',
    tests: [
      'test/http/signature-profile.test.ts › %s > delivers the text to any number: Status 100 REQUEST_OK, no signature',
      'test/registry/profile-selection.test.ts › the choice of a method > serves one-time passwords for any number, registered or not',
    ],
  },
  {
    id: 'wire-signature-profiles-11',
    source: 'wire facts: signature profiles',
    rule: 'SignatureProfile of an answer names the method that was chosen, never Any-*, in both modes.',
    tests: [
      'test/http/signature-profile.test.ts › a user with no SSCD, a SIM only, an App only, both > is asked by %s: %s, %s, %s, %s',
      'test/http/signature-profile.test.ts › an asynch request > is answered with the method chosen as well, and faults at once when there is none',
    ],
  },
  {
    id: 'wire-signature-profiles-12',
    source: 'wire facts: signature profiles',
    rule: 'An application that is not allowed a profile gets fault 109.',
    tests: [
      'test/http/application-provider.test.ts › an AP > that is not allowed a profile gets fault 109, at sign in both modes',
    ],
  },
  {
    id: 'wire-signature-profiles-13',
    source: 'wire facts: signature profiles',
    rule: 'An unknown MSISDN is fault 105 with the Detail MSISDN is unknown.',
    tests: [
      'test/http/profile.test.ts › a user who cannot be asked > is fault 105 when unknown or without an SSCD: %s',
      'test/http/sign.test.ts › in asynch mode > what is wrong with the request faults at sign',
    ],
  },
  {
    id: 'wire-signature-profiles-14',
    source: 'wire facts: signature profiles',
    rule: 'A device that is inactive or has an expired certificate counts only when the user has no other: a working App is asked in place of such a SIM.',
    tests: [
      'test/http/signature-profile.test.ts › a user whose SIM has an expired certificate > is asked by a working App, as one whose SIM is inactive; without one it is fault 422',
      'test/registry/profile-selection.test.ts › the choice of a method > takes somebody with an active App and a SIM that is %j for an App user',
    ],
  },
  {
    id: 'wire-concurrency-1',
    source: 'wire facts: concurrency',
    rule: 'A second request to a SIM that shows a prompt is fault 406 at once, and the first stays open.',
    tests: [
      'test/http/concurrency.e2e.test.ts › a SIM > that shows a prompt makes a second request fault 406 at once',
      'test/http/concurrency.e2e.test.ts › requests that come at the same moment > to a SIM are fault 406, all but one',
    ],
  },
  {
    id: 'wire-concurrency-2',
    source: 'wire facts: concurrency',
    rule: 'A receipt that a SIM shows is a prompt as well: meanwhile a signature request is fault 406.',
    tests: [
      'test/workers/adversity.test.ts › a SIM > is busy for signature requests while its SIM shows a receipt',
    ],
  },
  {
    id: 'wire-concurrency-3',
    source: 'wire facts: concurrency',
    rule: 'A SIM whose prompt has lapsed takes the next request.',
    tests: ['test/http/concurrency.e2e.test.ts › a SIM > is busy only until its prompt has lapsed'],
  },
  {
    id: 'wire-concurrency-4',
    source: 'wire facts: concurrency',
    rule: 'On an App a second request replaces the first, which ends with fault 401.',
    tests: [
      'test/http/concurrency.e2e.test.ts › an App > shows the second request, and the first ends 401',
      'test/http/concurrency.e2e.test.ts › requests that come at the same moment > to an App end 401, all but the one that it shows',
      'test/http/concurrency.e2e.test.ts › several processes of one service > leave an App with one prompt, however their steps fall among each other',
    ],
  },
  {
    id: 'wire-concurrency-5',
    source: 'wire facts: concurrency',
    rule: 'Robots have no screen and serve any number of requests at once.',
    tests: ['test/http/concurrency.e2e.test.ts › a robot > serves any number of requests at once'],
  },
];
