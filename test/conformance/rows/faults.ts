/** The form of a Fault, and when there is one. */
import type { Row } from '../row.ts';

export const faultsRows: readonly Row[] = [
  {
    id: 'interface-2.5-1',
    source: 'interface 2.5',
    rule: 'A Fault has Code.Value and Code.ValueNs, a namespace URI.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'interface-2.5-2',
    source: 'interface 2.5',
    rule: 'Code.SubCode.Value is an underscore and the numeric code, and Code.SubCode.ValueNs is a string beside it.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'interface-2.5-3',
    source: 'interface 2.5',
    rule: 'A Fault has a Detail, free text.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'interface-2.5-4',
    source: 'interface 2.5',
    rule: 'A Fault has a Reason, the symbolic name of the error.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'interface-7.1-1',
    source: 'interface 7.1',
    rule: 'A sign request that fails is HTTP 500 with a Fault, whose Reason and Detail say why.',
    tests: [
      'test/http/sign.test.ts › in synch mode > a failed signature is HTTP 500 with the Fault',
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'interface-7.1-2',
    source: 'interface 7.1',
    rule: 'A status request for a failed transaction is HTTP 500 with a Fault, whose Reason and Detail say why.',
    tests: [
      'test/http/faults.test.ts › in asynch mode > %i is a fault of the user or device and shows through status',
    ],
  },
  {
    id: 'interface-7.1-3',
    source: 'interface 7.1',
    rule: 'A receipt or profile request that fails is HTTP 500 with a Fault, whose Reason and Detail say why.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at receipt and profile',
    ],
  },
  {
    id: 'interface-7.2-1',
    source: 'interface 7.2',
    rule: 'Code 401 is USER_CANCEL: the user cancelled.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'interface-7.2-2',
    source: 'interface 7.2',
    rule: 'Code 402 is PIN_BLOCKED.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'interface-7.2-3',
    source: 'interface 7.2',
    rule: 'Code 403 is CARD_BLOCKED.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'interface-7.2-4',
    source: 'interface 7.2',
    rule: 'Code 404 is NO_KEY_FOUND.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
  {
    id: 'interface-7.2-5',
    source: 'interface 7.2',
    rule: 'Code 406 is PB_SIGNATURE_PROCESS.',
    tests: [
      'test/http/faults.test.ts › the test number of %i > faults with it at sign in synch mode, with and without plus',
    ],
  },
];
