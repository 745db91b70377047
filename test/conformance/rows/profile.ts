/** The profile operation. */
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
      'test/http/profile.test.ts › Params > switch on their part of the answer: %s',
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
    tests: ['test/http/profile.test.ts › Params > switch on their part of the answer: %s'],
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
      'test/conformance/profile.test.ts › the states of a user who can sign with another device > come with certificates as Base64 and with one subject for each',
      'test/http/profile.test.ts › Params > certs give the certificates of user, issuing CA and root, with their subjects as plain text',
    ],
  },
  {
    id: 'interface-2.4-14',
    source: 'interface 2.4',
    rule: 'X509SubjectName is an array.',
    tests: [
      'test/conformance/profile.test.ts › the states of a user who can sign with another device > come with certificates as Base64 and with one subject for each',
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
      'test/protocol/parse.test.ts › operationOf > knows %s by its wrapper, whatever else the body has',
      'test/http/sign.test.ts › the URL for all operations > is the only one for them all: at /rest/service/%s any other wrapper is fault 101',
    ],
  },
  {
    id: 'interface-4.4-2',
    source: 'interface 4.4',
    rule: 'AP_Info is required in a profile request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.4-3',
    source: 'interface 4.4',
    rule: 'MSSP_Info is required in a profile request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.4-4',
    source: 'interface 4.4',
    rule: 'MajorVersion is required in a profile request, and is 2.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/profile.test.ts › a profile request > of version %s.%s is fault 108',
    ],
  },
  {
    id: 'interface-4.4-5',
    source: 'interface 4.4',
    rule: 'MinorVersion is required in a profile request, and is 0.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/http/profile.test.ts › a profile request > of version %s.%s is fault 108',
    ],
  },
  {
    id: 'interface-4.4-6',
    source: 'interface 4.4',
    rule: 'Params is required in a profile request, as a string.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
      'test/protocol/members.test.ts › %s: %s > is a fault 101 when it is %j',
      'test/http/hostile.test.ts › in a %s request, %s > of another type is fault 101 that names it, never its value',
    ],
  },
  {
    id: 'interface-4.4-7',
    source: 'interface 4.4',
    rule: 'MobileUser is required in a profile request.',
    tests: [
      'test/protocol/members.test.ts › %s: %s > is missing when it is absent, null or empty',
      'test/http/hostile.test.ts › in a %s request, %s > that is absent, null or empty is fault 102 that names it',
    ],
  },
  {
    id: 'interface-4.4-8',
    source: 'interface 4.4',
    rule: 'Params are words with spaces between them, and may hold all of sscds, state, certs, pinstatus, rcstatus and aastatus.',
    tests: [
      'test/protocol/parse.test.ts › a profile request > with Params %j switches on %j',
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
  {
    id: 'wire-profile-1',
    source: 'wire facts: profile',
    rule: 'Params may also hold carddetails.',
    tests: ['test/http/profile.test.ts › Params > switch on their part of the answer: %s'],
  },
  {
    id: 'wire-profile-2',
    source: 'wire facts: profile',
    rule: 'sscds switches on the list of SSCDs.',
    tests: ['test/http/profile.test.ts › Params > switch on their part of the answer: %s'],
  },
  {
    id: 'wire-profile-3',
    source: 'wire facts: profile',
    rule: 'state switches on the State of each SSCD.',
    tests: ['test/http/profile.test.ts › Params > switch on their part of the answer: %s'],
  },
  {
    id: 'wire-profile-4',
    source: 'wire facts: profile',
    rule: 'certs switches on the certificates.',
    tests: [
      'test/http/profile.test.ts › Params > certs give the certificates of user, issuing CA and root, with their subjects as plain text',
      'test/http/profile.test.ts › Params > switch on their part of the answer: %s',
    ],
  },
  {
    id: 'wire-profile-5',
    source: 'wire facts: profile',
    rule: 'pinstatus switches on PinStatus.',
    tests: ['test/http/profile.test.ts › Params > switch on their part of the answer: %s'],
  },
  {
    id: 'wire-profile-6',
    source: 'wire facts: profile',
    rule: 'rcstatus switches on RecoveryCodeCreated.',
    tests: ['test/http/profile.test.ts › Params > switch on their part of the answer: %s'],
  },
  {
    id: 'wire-profile-7',
    source: 'wire facts: profile',
    rule: 'aastatus switches on AutoActivation.',
    tests: ['test/http/profile.test.ts › Params > switch on their part of the answer: %s'],
  },
  {
    id: 'wire-profile-8',
    source: 'wire facts: profile',
    rule: 'An unknown word in Params is fault 101.',
    tests: ['test/http/profile.test.ts › Params > with an unknown word are fault 101: %s'],
  },
  {
    id: 'wire-profile-9',
    source: 'wire facts: profile',
    rule: 'Empty Params give the list of profiles alone.',
    tests: ['test/http/profile.test.ts › Params > that are empty give the list of profiles alone'],
  },
  {
    id: 'wire-profile-10',
    source: 'wire facts: profile',
    rule: 'A certificate comes with its chain: user, issuing CA, root.',
    tests: [
      'test/http/profile.test.ts › Params > certs give the certificates of user, issuing CA and root, with their subjects as plain text',
    ],
  },
  {
    id: 'wire-profile-11',
    source: 'wire facts: profile',
    rule: 'X509SubjectName, which the interface calls Base64, is the subject as plain text in lower case.',
    tests: [
      'test/http/profile.test.ts › Params > certs give the certificates of user, issuing CA and root, with their subjects as plain text',
      'test/pki/certificate.test.ts › subjectDn > writes the names of the live certificates as the live profile answer does',
    ],
  },
  {
    id: 'wire-profile-12',
    source: 'wire facts: profile',
    rule: 'App is absent when the user has none.',
    tests: [
      'test/http/profile.test.ts › the SSCDs of a user > have no App when the user has none, and no Sim',
    ],
  },
  {
    id: 'wire-profile-13',
    source: 'wire facts: profile',
    rule: 'An unknown user is fault 105 in profile as in sign.',
    tests: [
      'test/http/profile.test.ts › a user who cannot be asked > is fault 105 when unknown or without an SSCD: %s',
    ],
  },
  {
    id: 'wire-profile-14',
    source: 'wire facts: profile',
    rule: 'A blocked PIN is fault 402 in profile as in sign.',
    tests: [
      'test/http/profile.test.ts › a user who cannot be asked > faults alike in profile and sign: %s %o is %s',
    ],
  },
  {
    id: 'wire-profile-15',
    source: 'wire facts: profile',
    rule: 'A suspended user is fault 403 in profile as in sign.',
    tests: [
      'test/http/profile.test.ts › a user who cannot be asked > faults alike in profile and sign: %s %o is %s',
    ],
  },
  {
    id: 'wire-profile-16',
    source: 'wire facts: profile',
    rule: 'An inactive user is fault 404 in profile as in sign.',
    tests: [
      'test/http/profile.test.ts › a user who cannot be asked > faults alike in profile and sign: %s %o is %s',
    ],
  },
  {
    id: 'wire-profile-17',
    source: 'wire facts: profile',
    rule: 'An expired certificate is fault 422 in profile as in sign.',
    tests: [
      'test/http/profile.test.ts › a user who cannot be asked > faults alike in profile and sign: %s %o is %s',
    ],
  },
];
