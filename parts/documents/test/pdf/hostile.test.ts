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
