/** Files that were changed by chance: every function answers, and none throws or hangs. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addRevocation,
  attachEvidence,
  checkPdf,
  prepareSignature,
  verifyPdf,
} from '../../pdf/index.ts';
import { deflated, kinds, objectsOf, withTable } from './samples.ts';
import { at, openStage } from './stage.ts';

const { ada, roots, sign } = await openStage();
const samples = await Promise.all(
  Object.entries(kinds)
    .filter(([kind]) => kind !== 'with a thousand pages')
    .map(async ([, bytes]) => [bytes, await sign(bytes, ada, { reservedBytes: 3000 })]),
);

/** What hostile numbers and words look like, put in the place of others. */
const words = [
  '99999999999',
  '-1',
  '0 0 R',
  '7 0 R',
  '<<',
  '>>',
  '[',
  ']',
  '(',
  '/Kids',
  'null',
  'stream',
  'endobj',
  '65535',
  '/Length 9',
  '4294967295',
];

const change = fc.record({
  sample: fc.nat(1000),
  edits: fc.array(
    fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      with: fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 3 })),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});

/** Each page needs the unpacking of another stream of 16 MB. */
const withPagesInTurn = (pages: number): Buffer => {
  const streams = 6;
  const numberOf = (page: number): number => 100 + page;
  const all = Array.from({ length: pages }, (_, page) => page);
  const page = '<</Type /Page /Parent 2 0 R /MediaBox [0 0 300 200]>>\n';
  const inStream = (index: number): Buffer => {
    const own = all.filter((each) => each % streams === index);
    const heads = own.map((each, at) => `${numberOf(each)} ${at * page.length} `).join('');
    const text = `${heads}${page.repeat(own.length)}${' '.repeat(16_000_000)}`;
    return deflated(`/Type /ObjStm /N ${own.length} /First ${heads.length}`, text);
  };
  const parts = [Buffer.from('%PDF-1.7\n')];
  const rows: number[][] = all.map((each) => [
    numberOf(each),
    2,
    10 + (each % streams),
    Math.floor(each / streams),
  ]);
  let at = parts[0]?.length ?? 0;
  const add = (number: number, body: string | Buffer): void => {
    rows.push([number, 1, at, 0]);
    const whole = Buffer.concat([
      Buffer.from(`${number} 0 obj\n`),
      Buffer.from(body),
      Buffer.from('\nendobj\n'),
    ]);
    parts.push(whole);
    at += whole.length;
  };
  add(1, '<</Type /Catalog /Pages 2 0 R>>');
  const kids = all.map((each) => `${numberOf(each)} 0 R`).join(' ');
  add(2, `<</Type /Pages /Kids [${kids}] /Count ${pages}>>`);
  for (let index = 0; index < streams; index += 1) add(10 + index, inStream(index));
  const data = Buffer.alloc(rows.length * 7);
  for (const [row, [, kind = 0, place = 0, more = 0]] of rows.entries()) {
    data[row * 7] = kind;
    data.writeUInt32BE(place, row * 7 + 1);
    data.writeUInt16BE(more, row * 7 + 5);
  }
  const index = rows.map(([number]) => `${number} 1`).join(' ');
  const start = at;
  const entries = `/Type /XRef /W [1 4 2] /Size ${100 + pages} /Index [${index}] /Root 1 0 R`;
  add(99, deflated(entries, data));
  return Buffer.concat([...parts, Buffer.from(`startxref\n${start}\n%%EOF\n`)]);
};

describe('a file that costs much to read', () => {
  it('whose security store names a small bomb two thousand times', async () => {
    const store = `/DSS <</Certs [${'40 0 R '.repeat(2000)}]>>`;
    const bomb = deflated('', Buffer.alloc(4_000_000));
    const bytes = withTable(objectsOf({ catalog: store, change: { 40: bomb } }));
    const material = { certificates: roots, ocsps: [], crls: [] };
    const error = expect.stringMatching(/security store .* larger|decompression bomb/);
    expect(await addRevocation(bytes, material)).toEqual({ ok: false, error });
    expect(await checkPdf(bytes)).toEqual({ ok: false, error });
  });

  it('whose pages lie in turn in six large object streams', async () => {
    expect(await checkPdf(withPagesInTurn(300))).toEqual({
      ok: false,
      error: expect.stringMatching(/too much time to read/),
    });
    expect(await checkPdf(withPagesInTurn(30))).toMatchObject({ ok: true });
  });

  it('with a number of a million digits', async () => {
    const bytes = withTable(objectsOf({ change: { 40: `${'1'.repeat(1_000_000)}x` } }));
    expect(await checkPdf(bytes)).toHaveProperty('ok');
    const used = withTable(objectsOf({ catalog: `/X ${'1'.repeat(1_000_000)}x` }));
    expect(await checkPdf(used)).toMatchObject({ ok: false });
  });
});

describe('a file with words in the wrong places', () => {
  it('gets an answer from every function', async () => {
    const all = samples.flat();
    await fc.assert(
      fc.asyncProperty(change, async ({ sample, edits }) => {
        const bytes = Buffer.from(all[sample % all.length] ?? []);
        for (const edit of edits)
          bytes.write(edit.with, Math.floor(edit.at * (bytes.length - 12)), 'latin1');
        expect(await checkPdf(bytes)).toHaveProperty('ok');
        expect(await verifyPdf(bytes, { roots, at })).toHaveProperty('ok');
        expect(await prepareSignature(bytes, { fieldName: 'S', at })).toHaveProperty('ok');
        expect(await attachEvidence(bytes, { name: 'a', bytes, at })).toHaveProperty('ok');
        const material = { certificates: roots, ocsps: [], crls: [] };
        expect(await addRevocation(bytes, material)).toHaveProperty('ok');
      }),
      { numRuns: 500 },
    );
  });
});
