/** The host part of a URI, in which the interface text and the live service differ. */
import type { Row } from '../row.ts';

export const dialectsRows: readonly Row[] = [
  {
    id: 'wire-dialects-1',
    source: 'wire facts: dialects',
    rule: 'Both the spelling of the interface text and that of the live service are accepted, for both hosts.',
    tests: [
      'test/conformance/dialects.test.ts › the accepted authorities > are both spellings of both hosts unless others are configured: %s',
      'test/http/recorded.test.ts › is answered as the live server did: %s',
    ],
  },
  {
    id: 'wire-dialects-2',
    source: 'wire facts: dialects',
    rule: 'Which authorities are accepted is one list of the configuration.',
    tests: [
      'test/conformance/dialects.test.ts › the accepted authorities > are one list of the configuration, for profiles and services alike',
    ],
  },
  {
    id: 'wire-dialects-3',
    source: 'wire facts: dialects',
    rule: 'An answer uses the spelling that the request used.',
    tests: [
      'test/http/sign.test.ts › an answer > speaks the dialect of the request: %s',
      'test/conformance/dialects.test.ts › a request that mixes dialects > is answered in the spelling of each URI, through status too',
      'test/http/profile.test.ts › the profiles > are spelled in the dialect of MSSP_ID %s',
    ],
  },
  {
    id: 'wire-dialects-4',
    source: 'wire facts: dialects',
    rule: 'Path and fragment carry the meaning, so a path is known under every accepted authority and no other path under any.',
    tests: [
      'test/conformance/dialects.test.ts › the accepted authorities > are both spellings of both hosts unless others are configured: %s',
      'packages/protocol/test/services.test.ts › AdditionalServices > that are %s are a fault 101',
      'packages/protocol/test/sign.test.ts › SignatureProfile > that is %s is a fault 109',
    ],
  },
];
