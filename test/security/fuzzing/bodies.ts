/**
 * Bodies that begin as valid requests of all operations and are then spoiled: by structure, in
 * their encoding, byte by byte.
 *
 * Spoiling by structure goes further in than bytes do: most of what it makes is JSON, and many a
 * request passes all checks but one. Whatever is drawn comes from the seed alone, so that a seed
 * means the same bytes every time.
 */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import {
  type Change,
  changeAt,
  leaf,
  type Member,
  placesIn,
  type Tree,
  treeOf,
  write,
} from './tree.ts';

const AP_Info = {
  AP_ID: 'mid://fuzz.example',
  AP_PWD: 'fuzz',
  AP_TransID: 'FUZZ-1',
  Instant: '2024-07-02T08:06:55.134Z',
};
const MSSP_Info = {
  MSSP_ID: { URI: 'http://mid.vendor.ch/' },
  Instant: '2024-07-02T08:06:55.134Z',
};
const caller = { AP_Info, MSSP_Info };
const vendor = 'http://mid.vendor.ch/as#';

const signReq = (changes: object) => ({
  MSS_SignatureReq: {
    MajorVersion: '1',
    MinorVersion: '2',
    ...caller,
    MobileUser: { MSISDN: '+41700092501' },
    MessagingMode: 'synch',
    SignatureProfile: 'http://mid.vendor.ch/Any-LoA4',
    // Short, so that a caller of somebody who never answers is answered soon.
    TimeOut: '2',
    DataToBeSigned: { MimeType: 'text/plain', Encoding: 'UTF-8', Data: 'Sign in to Example?' },
    AdditionalServices: [],
    ...changes,
  },
});

/**
 * One of each kind, all members present.
 * @param signed MSSP_TransID of a transaction that was signed, of the same AP.
 */
export const validRequests = (signed: string): readonly object[] => [
  signReq({}),
  signReq({
    MessagingMode: 'asynch',
    MobileUser: { MSISDN: '41700092508' },
    AdditionalServices: [
      { Description: 'http://mss.vendor.fi/TS102204/v1.0.0#userLang', UserLang: { Value: 'en' } },
      {
        Description: `${vendor}geofencing`,
        GeoFencingRequest: {
          countrywhitelist: ['CH'],
          countryblacklist: ['LI'],
          mindeviceconfidence: '0.5',
          minlocationconfidence: 0.5,
          maxtimestampminutes: '600',
          maxaccuracymeters: 1000,
        },
      },
      { Description: `${vendor}app2app`, App2App: { RedirectUri: 'myapp://back#x' } },
      { Description: `${vendor}subscriberInfo` },
      { Description: 'http://uri.etsi.org/TS102204/v1.1.2#validate' },
    ],
  }),
  signReq({
    MobileUser: { MSISDN: '41700092508' },
    SignatureProfile: 'http://mid.vendor.ch/Device-LoA4',
    DataToBeSigned: {
      MimeType: 'application/vnd.mobileid.txn-approval',
      Encoding: 'UTF-8',
      Data: '{"type":"Payment","dtbd":[{"key":"To","value":"Ada"},{"key":"Amount","value":"1.00"}]}',
    },
  }),
  signReq({ SignatureProfile: 'http://mid.vendor.ch/MID/v1/OtpProfileText' }),
  { MSS_StatusReq: { MajorVersion: '1', MinorVersion: '1', ...caller, MSSP_TransID: signed } },
  {
    MSS_ReceiptReq: {
      MajorVersion: '1',
      MinorVersion: '1',
      ...caller,
      MSSP_TransID: signed,
      MobileUser: { MSISDN: '+41700092501' },
      Message: { MimeType: 'text/plain', Encoding: 'UTF-8', Data: 'Signed in to Example.' },
      Status: {
        StatusCode: { Value: '100' },
        StatusDetail: {
          ReceiptRequestExtension: {
            ReceiptMessagingMode: 'synch',
            ReceiptProfile: { Language: 'en', ReceiptProfileURI: 'http://mss.vendor.ch/synch' },
            UserAck: 'true',
          },
        },
      },
    },
  },
  {
    MSS_ProfileReq: {
      MajorVersion: '2',
      MinorVersion: '0',
      ...caller,
      MobileUser: { MSISDN: '+41700092509' },
      Params: 'sscds state certs pinstatus rcstatus aastatus carddetails',
    },
  },
];

const nested = (open: string, close: string, depth: number): string =>
  `${open.repeat(depth)}1${close.repeat(depth)}`;

/** Pieces of text that stand in the place of a value; not all are JSON. */
const oddTexts: readonly string[] = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '1',
  '2',
  '1e21',
  '1e400',
  '-1e400',
  '1e-400',
  '0.1',
  '00',
  '+1',
  'NaN',
  'Infinity',
  'undefined',
  '',
  '{',
  ']',
  '//',
  "'x'",
  '9'.repeat(400),
  `0.${'3'.repeat(400)}`,
  '""',
  '" "',
  '"0"',
  '"2"',
  '"synch"',
  '"asynch"',
  '"UTF-8"',
  '"true"',
  '"100"',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '"\\u0000"',
  '"\\ud83d"',
  '"\\ude00\\ud83d"',
  '"\\uFEFF"',
  '"\\u202e"',
  '"\\u2028"',
  '"\\x41"',
  '"\\u00"',
  '"\t"',
  '"\u007f\u009b31m"',
  '"e\\u0301"',
  '"\\uFDD0"',
  '"\\uDBFF\\uDFFF"',
  '"İ"',
  '"ß"',
  '"１２"',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"../../etc/passwd"',
  '"%00"',
  '"$(id)"',
  '"\\r\\nX-A: b"',
  '"+41700092501"',
  '"41700092502"',
  '"+41000092401"',
  '"41790000000"',
  '"+41700092504"',
  '"00417000925"',
  '"http://mid.vendor.ch/STK-LoA4"',
  '"http://mid.swisscom.ch/MID/v1/OtpProfileText"',
  '"http://["',
  '"a:b"',
  '"2024-02-30T00:00:00Z"',
  '"+275760-09-13T00:00:00.001Z"',
  '"2024-07-02T08:06:55+99:99"',
  '"0000-01-01"',
  nested('[', ']', 31),
  nested('[', ']', 20_000),
  nested('{"a":', '}', 33),
  nested('{"a":', '}', 9000),
  `"${'x'.repeat(5000)}"`,
  `"${'𐀀'.repeat(60)}"`,
  `"${'\\\\'.repeat(10_000)}"`,
  `"${'\\"'.repeat(10_000)}"`,
  `[${'0,'.repeat(20_000)}0]`,
  `{${Array.from({ length: 3000 }, (_, index) => `"k${index}":0`).join()}}`,
];

const oddNames: readonly string[] = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'toJSON',
  'length',
  'valueOf',
  '',
  ' ',
  '0',
  '-1',
  '1e1000',
  'AP_PWD',
  'AP_Info',
  'MSS_SignatureReq',
  'MSS_StatusReq',
  'transaction',
  '\ud800',
  '\u0000',
  '\ufeff',
  'İ',
  'a.b',
  'a[0]',
  '$ref',
  'x'.repeat(3000),
];

const value: fc.Arbitrary<Tree> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...oddTexts).map(leaf) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }).map(treeOf) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }).map(treeOf) },
  {
    weight: 1,
    arbitrary: fc.oneof(fc.double(), fc.bigInt().map(String)).map((n) => leaf(String(n))),
  },
);
const name = fc.oneof(fc.constantFrom(...oddNames), fc.string({ unit: 'binary', maxLength: 12 }));

const replaced =
  (make: (old: Tree, siblings: readonly Member[]) => Tree): Change =>
  (members, index) => {
    const [key, old] = members[index] ?? ['', leaf('0')];
    return members.with(index, [key, make(old, members)]);
  };

const spelled =
  (spell: (name: string) => string): Change =>
  (members, index) => {
    const [key, old] = members[index] ?? ['', leaf('0')];
    return members.with(index, [spell(key), old]);
  };

/** A text becomes a number and the other way about. */
const otherType = (old: Tree): Tree => {
  if (old.kind !== 'leaf') return leaf(JSON.stringify(write(old)));
  return leaf(old.text.startsWith('"') ? old.text.slice(1, -1) : `"${old.text}"`);
};

/**
 * Nearly all members are texts: another text gets past the check of types, to where texts are
 * understood.
 */
const text = fc.constantFrom(...oddTexts.filter((odd) => odd.startsWith('"'))).map(leaf);

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 8, arbitrary: text.map((tree) => replaced(() => tree)) },
  { weight: 4, arbitrary: value.map((tree) => replaced(() => tree)) },
  fc.constant<Change>((members, index) => members.toSpliced(index, 1)),
  fc.constant<Change>((members, index) =>
    members.toSpliced(index, 0, ...members.slice(index, index + 1)),
  ),
  value.map(
    (tree): Change =>
      (members, index) =>
        members.toSpliced(index, 0, [members[index]?.[0] ?? '', tree]),
  ),
  fc.tuple(name, value).map(
    ([key, tree]): Change =>
      (members, index) =>
        members.toSpliced(index, 0, [key, tree]),
  ),
  name.map((key) => spelled(() => key)),
  fc.constant(spelled((key) => key.toLowerCase())),
  fc.constant(spelled((key) => ` ${key}`)),
  fc.constant(replaced(otherType)),
  fc.constant(replaced((old) => ({ kind: 'array', members: [['', old]] }))),
  fc.constant(replaced((old) => ({ kind: 'object', members: [['Value', old]] }))),
  fc.nat().map((at) => replaced((old, siblings) => siblings[at % siblings.length]?.[1] ?? old)),
  fc.integer({ min: 2, max: 200 }).map(
    (times): Change =>
      (members, index) =>
        members.toSpliced(
          index,
          0,
          ...Array.from({ length: times }, (): Member => members[index] ?? ['', leaf('0')]),
        ),
  ),
);
/**
 * Of several changes the first check that refuses one hides the others, so most bodies have a
 * single one.
 */
const changes = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(fc.tuple(fc.nat(), change)) },
  { weight: 1, arbitrary: fc.array(fc.tuple(fc.nat(), change), { maxLength: 4 }) },
);

/** Valid requests with a few changes of structure, as text. @param requests What to begin from. */
export const bodyTexts = (requests: readonly object[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...requests), changes, fc.constantFrom('', '', ' ', '\r\n\t'))
    .map(([request, made, space]) =>
      write(
        made.reduce<Tree>(
          (tree, [place, apply]) => changeAt(tree, place % Math.max(placesIn(tree), 1), apply),
          treeOf(request),
        ),
        space,
      ),
    );

/** Removes and inserts a few bytes somewhere. */
export const byteEdits: fc.Arbitrary<(bytes: Buffer) => Buffer> = fc
  .array(
    fc.record({
      at: fc.nat(),
      remove: fc.nat({ max: 3 }),
      insert: fc.uint8Array({ maxLength: 3 }),
    }),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((edits) => (bytes) => {
    let edited = bytes;
    for (const { at, remove, insert } of edits) {
      const start = at % (edited.length + 1);
      edited = Buffer.concat([edited.subarray(0, start), insert, edited.subarray(start + remove)]);
    }
    return edited;
  });

const encoding: fc.Arbitrary<(text: string) => Buffer> = fc.oneof(
  { weight: 12, arbitrary: fc.constant((text: string) => Buffer.from(text)) },
  { weight: 4, arbitrary: byteEdits.map((edit) => (text: string) => edit(Buffer.from(text))) },
  fc.double({ min: 0, max: 1, noNaN: true }).map((part) => (text: string) => {
    const bytes = Buffer.from(text);
    return bytes.subarray(0, Math.floor(bytes.length * part));
  }),
  fc.constantFrom<(text: string) => Buffer>(
    (text) => Buffer.from(`\ufeff${text}`),
    (text) => Buffer.from(`\ufeff\ufeff${text}`),
    (text) => Buffer.from(text, 'utf16le'),
    (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
    (text) => Buffer.from(text, 'latin1'),
    (text) => gzipSync(text),
    (text) => Buffer.from(text + text),
    (text) => Buffer.from(`${text}\0`),
    (text) => Buffer.from(`\n\n ${text} \n`),
    (text) => Buffer.from(`[${text}]`),
    (text) => Buffer.from(JSON.stringify(text)),
  ),
);

/** The same as bytes, in encodings right and wrong, whole and cut off. */
export const bodies = (requests: readonly object[]): fc.Arbitrary<Buffer> =>
  fc.tuple(bodyTexts(requests), encoding).map(([text, encode]) => encode(text));
