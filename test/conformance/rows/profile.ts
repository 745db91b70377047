/** The profile operation: its request and its response. */
import type { Row } from '../row.ts';

export const profileRows: readonly Row[] = [
  {
    id: 'interface-2.4-1',
    source: 'interface 2.4',
    rule: 'A ProfileStatus has StatusCode.Value, StatusMessage and StatusDetail.ProfileQueryExtension.',
    tests: [
      'test/http/recorded.test.ts › is answered as the live server did: %s',
      'test/http/profile.test.ts › Params > that are empty give the list of profiles alone',
    ],
  },
  {
    id: 'interface-2.4-2',
    source: 'interface 2.4',
    rule: 'MobileUser of the extension has AutoActivation and RecoveryCodeCreated, both booleans.',
    tests: [
      'test/http/profile.test.ts › the SSCDs of a user > are Sim and an array App, each with a State, PinStatus and certificate of its own',
      'test/http/profile.test.ts › Params > switch on their part of the answer, each by itself: %s',
    ],
  },
  {
    id: 'interface-2.4-3',
    source: 'interface 2.4',
    rule: 'Sscds has App, an array, and Sim, a single one.',
    tests: [
      'test/http/profile.test.ts › the SSCDs of a user > are Sim and an array App, each with a State, PinStatus and certificate of its own',
    ],
  },
  {
    id: 'interface-2.4-4',
    source: 'interface 2.4',
    rule: 'MobileUserCertificate of an Sscd is an array.',
    tests: [
      'test/http/profile.test.ts › Params > certs give the certificates of user, issuing CA and root, with their subjects as plain text',
    ],
  },
  {
    id: 'interface-2.4-5',
    source: 'interface 2.4',
    rule: 'PinStatus of an Sscd has Blocked, a boolean.',
    tests: [
      'test/conformance/profile.test.ts › the states of a user who can sign with another device > do not hide that a PIN is blocked, told as a boolean',
    ],
  },
  {
    id: 'interface-2.4-6',
    source: 'interface 2.4',
    rule: 'State of an Sscd is ACTIVE, INACTIVE or REGISTERED.',
    tests: [
      'test/conformance/profile.test.ts › the states of a user who can sign with another device > are ACTIVE, INACTIVE or REGISTERED for each SSCD',
    ],
  },
  {
    id: 'interface-2.4-7',
    source: 'interface 2.4',
    rule: 'Mcc of CardDetails is 000 when unknown.',
    tests: [
      'test/http/profile.test.ts › the SSCDs of a user > are Sim and an array App, each with a State, PinStatus and certificate of its own',
    ],
  },
  {
    id: 'interface-2.4-8',
    source: 'interface 2.4',
    rule: 'Mnc of CardDetails is 00 when unknown.',
    tests: [
      'test/http/profile.test.ts › the SSCDs of a user > are Sim and an array App, each with a State, PinStatus and certificate of its own',
    ],
  },
  {
    id: 'interface-2.4-9',
    source: 'interface 2.4',
    rule: 'Network of CardDetails is Unknown network when unknown.',
    tests: [
      'test/http/profile.test.ts › the SSCDs of a user > are Sim and an array App, each with a State, PinStatus and certificate of its own',
    ],
  },
  {
    id: 'interface-2.4-10',
    source: 'interface 2.4',
    rule: 'CardDetails of a known network has its Mcc, Mnc and Network.',
    tests: [
      'test/http/profile.test.ts › Params > switch on their part of the answer, each by itself: %s',
    ],
  },
  {
    id: 'interface-2.4-11',
    source: 'interface 2.4',
    rule: 'Algorithm of a certificate names the kind of key.',
    tests: [
      'test/http/profile.test.ts › the SSCDs of a user > are Sim and an array App, each with a State, PinStatus and certificate of its own',
    ],
  },
  {
    id: 'interface-2.4-12',
    source: 'interface 2.4',
    rule: 'State of a certificate is ACTIVE or INACTIVE.',
    tests: [
      'test/conformance/profile.test.ts › the states of a user who can sign with another device > are ACTIVE or INACTIVE for each certificate',
    ],
  },
  {
    id: 'interface-2.4-13',
    source: 'interface 2.4',
    rule: 'X509Certificate is an array of Base64 texts.',
    tests: [
      'test/conformance/profile.test.ts › the states of a user who can sign with another device > come with certificates as Base64 and with one subject for each, as text that is no Base64',
      'test/http/profile.test.ts › Params > certs give the certificates of user, issuing CA and root, with their subjects as plain text',
    ],
  },
  {
    id: 'interface-2.4-14',
    source: 'interface 2.4',
    rule: 'X509SubjectName is an array of Base64 strings; against that its strings are plain text, as the live service writes them.',
    tests: [
      'test/conformance/profile.test.ts › the states of a user who can sign with another device > come with certificates as Base64 and with one subject for each, as text that is no Base64',
    ],
  },
  {
    id: 'interface-3-5',
    source: 'interface 3',
    rule: 'The states of SSCDs and certificates are facts of the registry, and the answer tells them as they are.',
    tests: [
      'test/conformance/profile.test.ts › the states of a user who can sign with another device > are ACTIVE, INACTIVE or REGISTERED for each SSCD',
      'test/conformance/profile.test.ts › the states of a user who can sign with another device > are ACTIVE or INACTIVE for each certificate',
    ],
  },
  {
    id: 'interface-4.4-1',
    source: 'interface 4.4',
    rule: 'A profile request is an object with MSS_ProfileReq.',
    tests: [
      'packages/protocol/test/parse.test.ts › operationOf > knows %s by its wrapper, whatever else the body has',
      'test/http/sign.test.ts › the URL for all operations > is the only one for them all: at /rest/service/%s any other wrapper is fault 101',
    ],
  },
  {
    id: 'interface-4.4-2',
    source: 'interface 4.4',
    rule: 'AP_Info is required in a profile request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.4-3',
    source: 'interface 4.4',
    rule: 'MSSP_Info is required in a profile request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.4-4',
    source: 'interface 4.4',
    rule: 'MajorVersion is required in a profile request, and is 2.',
    tests: [
      'test/conformance/versions.test.ts › in a %s request, %s alone > that is %s is fault 108, which tells the versions expected',
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/profile.test.ts › a profile request > of version %s.%s is fault 108',
    ],
  },
  {
    id: 'interface-4.4-5',
    source: 'interface 4.4',
    rule: 'MinorVersion is required in a profile request, and is 0.',
    tests: [
      'test/conformance/versions.test.ts › in a %s request, %s alone > that is %s is fault 108, which tells the versions expected',
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/profile.test.ts › a profile request > of version %s.%s is fault 108',
    ],
  },
  {
    id: 'interface-4.4-6',
    source: 'interface 4.4',
    rule: 'Params is required in a profile request, as a string.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'packages/protocol/test/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-4.4-7',
    source: 'interface 4.4',
    rule: 'MobileUser is required in a profile request.',
    tests: [
      'packages/protocol/test/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.4-8',
    source: 'interface 4.4',
    rule: 'Params are words with spaces between them, and may hold all of sscds, state, certs, pinstatus, rcstatus and aastatus.',
    tests: [
      'packages/protocol/test/parse.test.ts › a profile request > with Params %j switches on %j',
      'test/http/recorded.test.ts › is answered as the live server did: %s',
    ],
  },
  {
    id: 'interface-4.4-9',
    source: 'interface 4.4',
    rule: 'A profile response is an object with MSS_ProfileResp: AP_Info, MSSP_Info, the versions, SignatureProfile and Status.',
    tests: ['test/http/recorded.test.ts › is answered as the live server did: %s'],
  },
  {
    id: 'interface-4.4-10',
    source: 'interface 4.4',
    rule: 'A profile response has MajorVersion 2 and MinorVersion 0.',
    tests: ['test/http/profile.test.ts › Params > that are empty give the list of profiles alone'],
  },
  {
    id: 'interface-4.4-11',
    source: 'interface 4.4',
    rule: 'SignatureProfile of a profile response is an array of profile URIs.',
    tests: [
      'test/http/profile.test.ts › Params > that are empty give the list of profiles alone',
      'test/http/profile.test.ts › the SSCDs of a user > decide which profiles are listed, Any-* among them',
    ],
  },
  {
    id: 'interface-4.4-12',
    source: 'interface 4.4',
    rule: 'A profile answer with 200 means that the user exists and is eligible.',
    tests: [
      'test/http/profile.test.ts › a user who cannot be asked > faults alike in profile and sign: %s %o is %s',
      'test/http/profile.test.ts › a user who cannot be asked > is fault 105 when unknown or without an SSCD: %s',
    ],
  },
  {
    id: 'interface-4.4-13',
    source: 'interface 4.4',
    rule: 'A profile request that fails is answered with a Fault.',
    tests: [
      'test/http/profile.test.ts › a user who cannot be asked > is fault 105 when unknown or without an SSCD: %s',
    ],
  },
];
