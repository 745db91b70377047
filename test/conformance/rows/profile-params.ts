/** What the words of Params switch on, and which users have no profile. */
import type { Row } from '../row.ts';

export const profileParamsRows: readonly Row[] = [
  {
    id: 'wire-profile-1',
    source: 'wire facts: profile',
    rule: 'Params may also hold carddetails, which by itself switches on CardDetails.',
    tests: [
      'test/http/profile.test.ts › Params > switch on their part of the answer, each by itself: %s',
    ],
  },
  {
    id: 'wire-profile-2',
    source: 'wire facts: profile',
    rule: 'sscds switches on the list of SSCDs.',
    tests: [
      'test/http/profile.test.ts › Params > switch on their part of the answer, each by itself: %s',
    ],
  },
  {
    id: 'wire-profile-3',
    source: 'wire facts: profile',
    rule: 'By itself, state switches on the State of each SSCD.',
    tests: [
      'test/http/profile.test.ts › Params > switch on their part of the answer, each by itself: %s',
    ],
  },
  {
    id: 'wire-profile-4',
    source: 'wire facts: profile',
    rule: 'By itself, certs switches on the certificates.',
    tests: [
      'test/http/profile.test.ts › Params > certs give the certificates of user, issuing CA and root, with their subjects as plain text',
      'test/http/profile.test.ts › Params > switch on their part of the answer, each by itself: %s',
    ],
  },
  {
    id: 'wire-profile-5',
    source: 'wire facts: profile',
    rule: 'By itself, pinstatus switches on PinStatus.',
    tests: [
      'test/http/profile.test.ts › Params > switch on their part of the answer, each by itself: %s',
    ],
  },
  {
    id: 'wire-profile-6',
    source: 'wire facts: profile',
    rule: 'rcstatus switches on RecoveryCodeCreated.',
    tests: [
      'test/http/profile.test.ts › Params > switch on their part of the answer, each by itself: %s',
    ],
  },
  {
    id: 'wire-profile-7',
    source: 'wire facts: profile',
    rule: 'aastatus switches on AutoActivation.',
    tests: [
      'test/http/profile.test.ts › Params > switch on their part of the answer, each by itself: %s',
    ],
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
      'packages/pki/test/certificate.test.ts › subjectDn > writes the names of the live certificates as the live profile answer does',
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
    rule: 'A blocked PIN is fault 402 in profile as in sign, where no profile works without it.',
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
  {
    id: 'wire-profile-18',
    source: 'wire facts: profile',
    rule: 'A user who can sign with one device and not with another is told which profiles work, and gets the fault of the other at sign alone.',
    tests: [
      'test/http/profile.test.ts › a user who can sign with one device and not with another > sees in the profile what sign would do: %s',
      'test/http/profile.test.ts › a user who can sign with one device and not with another > is told which PIN is blocked',
    ],
  },
];
