/** What `verifyPdf` says of good signatures, and of the attacks on PDFs that are known. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { owner } from '../../../../packages/pki/test/fixtures.ts';
import {
  addRevocation,
  attachEvidence,
  padesAttributes,
  padesCms,
  prepareSignature,
  verifyPdf,
} from '../../pdf/index.ts';
import { kinds, objectsOf, savedAgain, stream, withStreams, withTable } from './samples.ts';
import { at, made, openStage } from './stage.ts';

const stage = await openStage();
const { ada, bob, roots, sign } = stage;
const verify = (bytes: Uint8Array) => verifyPdf(bytes, { roots, at });

const signed = await sign(withTable(), ada);

describe('a signature is valid', () => {
  it.each(Object.entries(kinds))('in a PDF %s, with another one after it', async (_, bytes) => {
    const place = { page: 1, x: 5, y: 5, width: 60, height: 20 };
    const once = await sign(bytes, ada, { place, reason: 'Agreed' }, 'B-LT');
    const twice = await sign(once, bob, { fieldName: 'Signature2' }, 'B-LT');
    const report = await verify(twice);
    expect(report).toMatchObject({ ok: true, reasons: [] });
    const [first, second] = report.signatures;
    expect(first).toMatchObject({
      field: 'Signature1',
      valid: true,
      level: 'B-LT',
      signer: { serialNumber: ada.serialNumber },
      claimedAt: at,
      timeStamp: at,
      reason: 'Agreed',
      changes: [],
      reasons: [],
    });
    expect(first?.later).toContain('The signature field “Signature2” was added.');
    expect(second).toMatchObject({ valid: true, signer: { serialNumber: bob.serialNumber } });
  });

  it.each(['B-B', 'B-T', 'B-LT'] as const)('at level %s', async (level) => {
    const report = await verify(await sign(withTable(), ada, {}, level));
    expect(report.signatures).toMatchObject([{ valid: true, level }]);
    expect(report.signatures[0]?.coversWholeFile).toBe(level !== 'B-LT');
  });

  it('in a document with evidence, and in an empty field that it fills', async () => {
    const evidence = { name: 'evidence.json', bytes: Buffer.from('{}'), at };
    const bytes = kinds['with an empty field for a signature'] ?? Buffer.alloc(0);
    const attached = made(await attachEvidence(bytes, evidence)).bytes;
    const once = await sign(attached, ada);
    const report = await verify(await sign(once, bob, { fieldName: 'here' }));
    expect(report.ok).toBe(true);
    expect(report.signatures.at(0)?.changes).toEqual([]);
  });

  it('after its certificate has ended, by its time stamp', async () => {
    const later = new Date('2030-01-01T00:00:00Z');
    const [plain, stamped] = [signed, await sign(withTable(), ada, {}, 'B-LT')];
    expect(await verifyPdf(stamped, { roots, at: later })).toMatchObject({ ok: true });
    const report = await verifyPdf(plain, { roots, at: later });
    expect(report.signatures).toMatchObject([
      { valid: false, intact: true, trusted: false, reasons: [expect.stringMatching(/had ended/)] },
    ]);
  });

  it('of the same material once, however often it is added', async () => {
    const once = await sign(withTable(), ada, {}, 'B-LT');
    expect(made(await addRevocation(once, await stage.material())).bytes).toBe(once);
  });
});

describe('a signature is not trusted', () => {
  it('under another root', async () => {
    const other = await openStage();
    const report = await verifyPdf(signed, { roots: other.roots, at });
    expect(report.signatures).toMatchObject([
      {
        valid: false,
        intact: true,
        trusted: false,
        reasons: [expect.stringMatching(/does not lead to a root/)],
      },
    ]);
  });

  it('by a certificate that was revoked before, as the document itself shows', async () => {
    const own = await openStage();
    const bytes = await own.sign(withTable(), own.ada);
    await own.custody.revokeCertificate({ msisdn: owner().msisdn }, 'keyCompromise');
    const shown = made(await addRevocation(bytes, await own.material())).bytes;
    const report = await verifyPdf(shown, { roots: own.roots, at: new Date(at.getTime() + 1000) });
    expect(report.signatures).toMatchObject([
      { valid: false, trusted: false, reasons: [expect.stringMatching(/was revoked/)] },
    ]);
  });
});

describe('a file without a good signature is told as one', () => {
  it('without any signature', async () => {
    expect(await verify(withTable())).toEqual({
      ok: false,
      signatures: [],
      reasons: ['The file has no signature.'],
    });
  });

  it('that is no PDF', async () => {
    expect(await verify(Buffer.from('GIF89a'))).toMatchObject({ ok: false, signatures: [] });
  });

  it('whichever byte was changed, but for the certificates that are in the CMS unsigned', async () => {
    const room = Buffer.from(signed).indexOf('/Contents <');
    const inCms = (index: number): boolean => index > room && index < room + 10_000;
    for (
      let index = 3;
      index < signed.length;
      index += index > room && index < room + 32_000 ? 401 : 13
    ) {
      if (inCms(index)) continue;
      const changed = Buffer.from(signed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      const report = await verify(changed);
      expect(report.ok, `byte ${index}`).toBe(false);
    }
  });

  it('wherever it was cut off', async () => {
    for (let end = 0; end < signed.length - 1; end += 997)
      expect((await verify(signed.subarray(0, end))).ok).toBe(false);
  });
});

const text = (replacement: string): Uint8Array =>
  stream('', `BT /F1 18 Tf 50 100 Td (${replacement}) Tj ET`);
const page = (entries: string): string =>
  `<</Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources <</Font <</F1 5 0 R>>>> ${entries}>>`;
const change = (objects: Readonly<Record<number, string | Uint8Array>>, trailer = ''): Buffer =>
  savedAgain(
    signed,
    new Map(Object.entries(objects).map(([number, body]) => [Number(number), body])),
    trailer,
  );

/** The objects of the signed file that the update has written: those that an attacker starts from. */
const bodyOf = (number: number): string => {
  const all = [
    ...Buffer.from(signed)
      .toString('latin1')
      .matchAll(new RegExp(`\\n${number} 0 obj\\n([\\s\\S]*?)\\nendobj`, 'g')),
  ];
  return all.at(-1)?.[1] ?? '';
};

/** An update that frees an object, or whose section says what is given. */
const withSection = (section: string, trailer = ''): Buffer => {
  const [, previous = ''] =
    /startxref\s+(\d+)\s+%%EOF\s*$/.exec(Buffer.from(signed.subarray(-100)).toString('latin1')) ??
    [];
  return Buffer.concat([
    signed,
    Buffer.from(
      `xref\n${section}trailer\n<</Size 1000 /Root 1 0 R /Info 6 0 R ${trailer || `/Prev ${previous}`}>>\nstartxref\n${signed.length}\n%%EOF\n`,
    ),
  ]);
};

describe('what was changed after the signature is told', () => {
  it.each<[string, () => Uint8Array, RegExp]>([
    [
      'a text that was replaced',
      () => change({ 4: text('free of charge') }),
      /Object 4 was changed/,
    ],
    ...['ObjStm', 'XRef'].map((type): [string, () => Uint8Array, RegExp] => [
      `a text that was replaced by one that calls itself ${type}`,
      () => change({ 4: stream(`/Type /${type}`, 'BT /F1 18 Tf (free of charge) Tj ET') }),
      /Object 4 was changed/,
    ]),
    [
      'a text under another generation, to which nothing refers',
      () => {
        const body = Buffer.concat([
          Buffer.from('4 1 obj\n'),
          text('Rental contract: 1200 a month'),
          Buffer.from('\nendobj\n'),
        ]);
        const [, previous = ''] =
          /startxref\s+(\d+)\s+%%EOF\s*$/.exec(
            Buffer.from(signed.subarray(-100)).toString('latin1'),
          ) ?? [];
        return Buffer.concat([
          signed,
          body,
          Buffer.from(
            `xref\n4 1\n${String(signed.length).padStart(10, '0')} 00001 n\r\ntrailer\n<</Size 1000 /Root 1 0 R /Info 6 0 R /Prev ${previous}>>\nstartxref\n${signed.length + body.length}\n%%EOF\n`,
          ),
        ]);
      },
      /Object 4 was replaced by another/,
    ],
    [
      'objects behind the last save, which a reader finds that repairs',
      () =>
        Buffer.concat([
          signed,
          Buffer.from('4 0 obj\n'),
          text('free of charge'),
          Buffer.from(`\nendobj\n${' '.repeat(1200)}\n%%EOF\n`),
        ]),
      /behind the last save/,
    ],
    [
      'an object that its save does not name, which a reader finds that repairs',
      () => {
        const evil = Buffer.concat([
          Buffer.from('4 0 obj\n'),
          text('free of charge'),
          Buffer.from('\nendobj\n'),
        ]);
        const saved = savedAgain(signed, new Map());
        const start = saved.indexOf('xref\n', signed.length);
        const whole = Buffer.concat([signed, evil, saved.subarray(start)]).toString('latin1');
        return Buffer.from(
          whole.replace(
            /startxref\n\d+\n%%EOF\n$/,
            `startxref\n${signed.length + evil.length}\n%%EOF\n`,
          ),
          'latin1',
        );
      },
      /Object 4 was added in a way/,
    ],
    [
      'a save that begins with a comment, which a reader finds that repairs',
      () => {
        const saved = savedAgain(signed, new Map([[900, '<<>>']]));
        const at = saved.lastIndexOf('xref\n', saved.lastIndexOf('trailer'));
        return Buffer.concat([saved.subarray(0, at), Buffer.from('% x\n'), saved.subarray(at)]);
      },
      /startxref leads to a comment/,
    ],
    [
      'a font that was replaced',
      () => change({ 5: '<</Type /Font /Subtype /Type1 /BaseFont /Symbol>>' }),
      /Object 5 was changed, Type1/,
    ],
    [
      'a page with other contents',
      () => change({ 3: page('/Contents2 4 0 R').replace('4 0 R', '900 0 R'), 900: text('other') }),
      /Page 1 was changed \(Contents/,
    ],
    [
      'an annotation over the page',
      () =>
        change({
          3: bodyOf(3).replace('/Annots [', '/Annots [900 0 R '),
          900: '<</Type /Annot /Subtype /FreeText /Rect [0 0 300 200] /Contents (hidden)>>',
        }),
      /annotation was added to page 1/,
    ],
    [
      'an annotation that was taken away',
      () => change({ 3: page('/Annots []') }),
      /annotation of page 1 was taken away/,
    ],
    [
      'pages in another order',
      () => change({ 2: '<</Type /Pages /Kids [3 0 R 900 0 R] /Count 2>>', 900: page('') }),
      /Object 2 was changed, Pages/,
    ],
    [
      'a catalog with other layers',
      () => change({ 1: bodyOf(1).replace('<<', '<</OCProperties <</OCGs [] /D <<>>>> ') }),
      /catalog was changed \(OCProperties\)/,
    ],
    [
      'another catalog',
      () => change({ 900: '<</Type /Catalog /Pages 2 0 R>>' }, '/Root 900 0 R'),
      /no signature|another catalog/,
    ],
    [
      'an attachment',
      () => change({ 1: bodyOf(1).replace('<<', '<</Names <</EmbeddedFiles <</Names []>>>> ') }),
      /catalog was changed \(Names\)/,
    ],
    [
      'a script that opens',
      () => change({ 1: bodyOf(1).replace('<<', '<</OpenAction <</S /JavaScript /JS (1)>> ') }),
      /JavaScript/,
    ],
    [
      'a field of the form',
      () =>
        change({
          1: bodyOf(1).replace('/Fields [', '/Fields [900 0 R '),
          900: '<</FT /Tx /T (x) /V (1)>>',
        }),
      /The field “x” was added/,
    ],
    [
      'an empty field for a signature, which may have a picture',
      () =>
        change({
          1: bodyOf(1).replace('/Fields [', '/Fields [900 0 R '),
          900: '<</FT /Sig /T (x) /Rect [0 0 90 90]>>',
        }),
      /The field “x” was added/,
    ],
    [
      'the picture of the signature itself',
      () => change({ 8: bodyOf(8).replace('/Rect [0 0 0 0]', '/Rect [0 0 300 200]') }),
      /The field “Signature1” was changed \(Rect\)/,
    ],
    [
      'an object that was taken away',
      () => withSection('4 1\n0000000000 00001 f\r\n'),
      /Object 4 was taken away/,
    ],
    [
      'all that a section without its predecessors hides',
      () => withSection('0 1\n0000000000 65535 f\r\n', '/X 0'),
      /catalog|pages|missing/,
    ],
  ])('%s', async (_, make, sentence) => {
    const report = await verify(make());
    expect(report.ok).toBe(false);
    const told = [
      ...report.reasons,
      ...report.signatures.flatMap((each) => [...each.changes, ...each.reasons]),
    ];
    expect(told.join(' ')).toMatch(sentence);
  });

  it('hide-and-replace: a number that leads to another body of the signed file', async () => {
    const prepared = withTable(objectsOf({ change: { 20: text('free of charge') } }));
    const before = await sign(prepared, ada);
    expect((await verify(before)).ok).toBe(true);
    const body = Buffer.from(before).indexOf(Buffer.from(text('free of charge')));
    const padded = Buffer.from(before).lastIndexOf('20 0 obj', body);
    const [, previous = ''] =
      /startxref\s+(\d+)\s+%%EOF\s*$/.exec(Buffer.from(before.subarray(-100)).toString('latin1')) ??
      [];
    // The contents of the page become object 20, whose bytes were signed.
    const attacked = Buffer.concat([
      before,
      Buffer.from(`3 0 obj\n${page('').replace('/Contents 4 0 R', '/Contents 20 0 R')}\nendobj\n`),
    ]);
    const start = attacked.length;
    const whole = Buffer.concat([
      attacked,
      Buffer.from(
        `xref\n3 1\n${String(before.length).padStart(10, '0')} 00000 n\r\n20 1\n${String(padded).padStart(10, '0')} 00000 n\r\ntrailer\n<</Size 1000 /Root 1 0 R /Prev ${previous}>>\nstartxref\n${start}\n%%EOF\n`,
      ),
    ]);
    const report = await verify(whole);
    expect(report.signatures[0]?.changes.join(' ')).toMatch(/Page 1 was changed \(Contents/);
  });

  it('a missing object that the signed document refers to', async () => {
    const before = await sign(withTable(objectsOf({ page: '/Annots [700 0 R]' })), ada);
    expect((await verify(before)).ok).toBe(true);
    const added = new Map([[700, '<</Type /Annot /Subtype /FreeText /Rect [0 0 300 200]>>']]);
    const report = await verify(savedAgain(before, added));
    expect(report.signatures[0]?.changes.join(' ')).toMatch(/Object 700 was missing/);
  });

  it('an object stream that was replaced', async () => {
    const before = await sign(withStreams(), ada);
    const changed = savedAgain(before, new Map([[7, stream('/Type /ObjStm /N 0 /First 0', '')]]));
    expect((await verify(changed)).ok).toBe(false);
  });

  it.each<[string, Parameters<typeof objectsOf>[0], string, number]>([
    ['the security store', { catalog: '/DSS <</Certs [4 0 R]>>' }, '', 4],
    ['the metadata', { catalog: '/Metadata 4 0 R' }, '', 4],
    ['the document information', { change: { 4: text('1200'), 6: '<<>>' } }, '/Info 4 0 R', 4],
  ])('a content that is said to be %s, too', async (_, objects, info, number) => {
    const prepared = withTable(objectsOf(objects)).toString('latin1');
    const before = await sign(
      Buffer.from(prepared.replace('/Info 6 0 R', info || '$&'), 'latin1'),
      ada,
    );
    expect((await verify(before)).ok).toBe(true);
    const saved = savedAgain(before, new Map([[number, text('free of charge')]]));
    const after = Buffer.from(
      saved.toString('latin1').replaceAll('/Info 6 0 R', info || '$&'),
      'latin1',
    );
    expect((await verify(after)).signatures[0]?.changes.join(' ')).toMatch(/Object 4 was changed/);
  });

  it('a list of annotations that is the list of fields, too', async () => {
    const before = await sign(
      withTable(
        objectsOf({
          change: { 30: '[]' },
          page: '/Annots 30 0 R',
          catalog: '/AcroForm <</Fields 30 0 R>>',
        }),
      ),
      ada,
    );
    const place = { page: 1, x: 0, y: 0, width: 300, height: 200 };
    const twice = await sign(before, bob, { fieldName: 'Signature2', place });
    expect((await verify(twice)).signatures[0]?.changes.join(' ')).toMatch(/covers much of page 1/);
  });

  it('a picture in an empty field that nobody has signed', async () => {
    const field =
      '<</Type /Annot /Subtype /Widget /FT /Sig /T (here) /Rect [0 0 300 200] /P 3 0 R>>';
    const objects = objectsOf({
      change: { 30: field },
      page: '/Annots [30 0 R]',
      catalog: '/AcroForm <</Fields [30 0 R]>>',
    });
    const before = await sign(withTable(objects), ada);
    expect((await verify(before)).ok).toBe(true);
    const after = savedAgain(
      before,
      new Map<number, string | Uint8Array>([
        [30, field.replace('>>', '/AP <</N 900 0 R>>>>')],
        [900, stream('/Type /XObject /Subtype /Form /BBox [0 0 300 200]', '0 0 300 200 re f')],
      ]),
    );
    expect((await verify(after)).signatures[0]?.changes).toEqual([
      'The field “here” was changed (AP).',
    ]);
  });

  it('a later signature whose picture covers the page', async () => {
    const place = { page: 1, x: 0, y: 0, width: 300, height: 200 };
    const twice = await sign(signed, bob, { fieldName: 'Signature2', place });
    const [first, second] = (await verify(twice)).signatures;
    expect(first?.changes).toEqual(['The picture of a later signature covers much of page 1.']);
    expect(second).toMatchObject({ valid: true });
  });

  it('a signature after a certification that allows none', async () => {
    const objects = objectsOf({ catalog: '/Perms <</DocMDP 7 0 R>>' });
    // Signed as the author's certification, by changing what is signed before its digest is made.
    const prepared = made(
      await prepareSignature(withTable(objects), {
        fieldName: 'author',
        at,
        reason: 'x'.repeat(90),
      }),
    );
    const bytes = Buffer.from(prepared.bytes);
    const reference = '/Reference [<</TransformMethod /DocMDP /TransformParams <</P 1>>>>]';
    const place = bytes.indexOf(`/Reason (${'x'.repeat(90)})`);
    bytes.write(reference.padEnd(`/Reason (${'x'.repeat(90)})`.length), place, 'latin1');
    const before = await signBytes(bytes);
    expect(await verify(before)).toMatchObject({ ok: true });
    const refused = await prepareSignature(before, { fieldName: 'S2', at });
    expect(refused).toEqual({ ok: false, error: expect.stringMatching(/allows no changes/) });
    // Another program adds a field for one nevertheless.
    const catalog =
      /(?:^|\n)1 0 obj\n([\s\S]*?)\nendobj/.exec(
        before.subarray(withTable(objects).length).toString('latin1'),
      )?.[1] ?? '';
    const added = '<</Type /Annot /Subtype /Widget /FT /Sig /T (S2) /Rect [0 0 0 0] /V 901 0 R>>';
    const changed = catalog.replace(/\/Fields\s*\[/, '/Fields [900 0 R ');
    const after = await verify(
      savedAgain(
        before,
        new Map([
          [1, changed],
          [900, added],
          [901, '<</Type /Sig>>'],
        ]),
      ),
    );
    const author = after.signatures.find(({ field }) => field === 'author');
    expect(author?.reasons).toEqual(['It allows no changes, and a signature was added.']);
  });
});

/** Signs the byte range that the file says, whatever it is. */
async function signBytes(bytes: Buffer): Promise<Buffer> {
  const match = /\/ByteRange \[0 (\d+) (\d+) (\d+)\]\s*\/Contents </.exec(bytes.toString('latin1'));
  const [end, start, length] = [Number(match?.[1]), Number(match?.[2]), Number(match?.[3])];
  const digest = createHash('sha256')
    .update(bytes.subarray(0, end))
    .update(bytes.subarray(start, start + length))
    .digest();
  const [own, ...others] = ada.chain.certificates;
  const signature = await ada.privateKey.sign(padesAttributes(digest, own), 'ECDSA');
  const cms = padesCms({ digest, signature, certificates: [own, ...others] });
  const room = bytes.indexOf('/Contents <') + '/Contents <'.length;
  bytes.write(Buffer.from(cms ?? []).toString('hex'), room, 'latin1');
  return bytes;
}

const prepared = made(await prepareSignature(withTable(), { fieldName: 'Signature1', at }));
const range = /\/ByteRange \[0 (\d+) (\d+) (\d+)\] *(?=\n)/.exec(
  Buffer.from(prepared.bytes).toString('latin1'),
);
const [whole = '', first = '0', second = '0', rest = '0'] = range ?? [];
const withRange = async (text: string): Promise<Buffer> => {
  const bytes = Buffer.from(prepared.bytes);
  bytes.write(text.padEnd(whole.length), bytes.indexOf(whole), 'latin1');
  return signBytes(bytes);
};

describe('a signature that does not cover the file proves nothing', () => {
  it.each<[string, () => Promise<Uint8Array>, RegExp]>([
    [
      'when it leaves out more than itself',
      () => withRange(`/ByteRange [0 ${first} ${Number(second) + 100} ${Number(rest) - 100}]`),
      /leaves out more/,
    ],
    [
      'when it ends early',
      () => withRange(`/ByteRange [0 ${first} ${second} ${Number(rest) - 20}]`),
      /ends within a save/,
    ],
    [
      'when it begins late',
      () => withRange(`/ByteRange [9 ${Number(first) - 9} ${second} ${rest}]`),
      /does not begin with the file/,
    ],
    [
      'when it goes beyond the file',
      () => withRange(`/ByteRange [0 ${first} ${second} ${Number(rest) + 1}]`),
      /beyond the file/,
    ],
    ['when it has no range', () => withRange('/ByteRange []'), /not two ranges/],
    ['when its range is null', () => withRange('/ByteRange null'), /not two ranges/],
    [
      'when it has three parts',
      () => withRange(`/ByteRange [0 ${first} ${second} 1 ${second} 1]`),
      /not two ranges/,
    ],
    ['when its CMS is empty', async () => prepared.bytes, /no CMS|cannot be read/],
    [
      'when something stands behind its CMS',
      async () => {
        const bytes = Buffer.from(signed);
        bytes.write('ff', bytes.indexOf('/Contents <') + 30_000, 'latin1');
        return bytes;
      },
      /stands in the room behind its CMS/,
    ],
    [
      'when it is of another document',
      async () => {
        const other = await sign(
          withTable(objectsOf({ change: { 4: text('free of charge') } })),
          ada,
        );
        const bytes = Buffer.from(prepared.bytes);
        const room = '/Contents <';
        const from = Buffer.from(other).indexOf(room);
        Buffer.from(other).copy(bytes, bytes.indexOf(room), from, from + 20_000);
        return bytes;
      },
      /bytes that it covers were changed/,
    ],
  ])('%s', async (_, make, sentence) => {
    const report = await verify(await make());
    expect(report.ok).toBe(false);
    expect(report.signatures.flatMap(({ reasons }) => reasons).join(' ')).toMatch(sentence);
  });

  it('when two fields have its name', async () => {
    const report = await verify(
      change({ 1: bodyOf(1).replace('/Fields [', '/Fields [900 0 R '), 900: bodyOf(8) }),
    );
    expect(report.ok).toBe(false);
    expect(report.reasons).toEqual(['Two of its signatures have the same field name.']);
  });
});
