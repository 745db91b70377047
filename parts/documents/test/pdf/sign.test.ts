/** Signatures in PDFs: what is written, and that OpenSSL accepts it. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { pem } from '../../../../packages/pki/test/openssl.ts';
import { checkPdf, prepareSignature, recordsIn, verifyPdf } from '../../pdf/index.ts';
import { kinds, objectsOf, withStreams, withTable } from './samples.ts';
import { at, made, openStage } from './stage.ts';

const folder = mkdtempSync(join(tmpdir(), 'paraph-pdf-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { custody, ada, bob, roots, sign } = await openStage();

/** The signatures of a file as its text has them: range, and CMS without the zeros behind it. */
const signaturesIn = (bytes: Uint8Array) =>
  [
    ...Buffer.from(bytes)
      .toString('latin1')
      .matchAll(/\/ByteRange \[0 (\d+) (\d+) (\d+)\]\s*\/Contents <([0-9a-f]+)>/g),
  ].map(([, first, second, length, hex = '']) => {
    const [end, start, more] = [Number(first), Number(second), Number(length)];
    const padded = Buffer.from(hex, 'hex');
    return {
      content: Buffer.concat([bytes.subarray(0, end), bytes.subarray(start, start + more)]),
      end: start + more,
      cms: padded.subarray(0, 4 + padded.readUInt16BE(2)),
    };
  });

const opensslAccepts = async (bytes: Uint8Array): Promise<void> => {
  writeFileSync(join(folder, 'root.pem'), (await custody.trust()).map(pem).join(''));
  for (const { content, cms } of signaturesIn(bytes)) {
    writeFileSync(join(folder, 'content'), content);
    writeFileSync(join(folder, 'cms'), cms);
    execFileSync(
      'openssl',
      [
        'cms',
        '-verify',
        '-binary',
        '-inform',
        'DER',
        '-in',
        'cms',
        '-content',
        'content',
        '-CAfile',
        'root.pem',
        '-purpose',
        'any',
        '-attime',
        String(at.getTime() / 1000),
        '-out',
        'verified',
      ],
      { cwd: folder, stdio: 'pipe' },
    );
  }
};

describe('a signature', () => {
  it.each(Object.entries(kinds))(
    'is appended to a PDF %s, by an EC and by an RSA key',
    async (_, bytes) => {
      const once = await sign(bytes, ada);
      const twice = await sign(once, bob, { fieldName: 'Signature2' });
      expect(Buffer.compare(twice.subarray(0, bytes.length), bytes)).toBe(0);
      expect(Buffer.compare(twice.subarray(0, once.length), once)).toBe(0);
      expect(signaturesIn(twice).map(({ end }) => end)).toEqual([once.length, twice.length]);
      await opensslAccepts(twice);
      expect(await checkPdf(twice)).toMatchObject({ ok: true, about: { signatures: 2 } });
    },
  );

  it('has the digest of all bytes but its own', async () => {
    const prepared = made(await prepareSignature(withTable(), { fieldName: 'S', at }));
    const [{ content } = { content: Buffer.alloc(0) }] = signaturesIn(prepared.bytes);
    expect(prepared.digest('sha256')).toEqual(createHash('sha256').update(content).digest());
  });

  it('says who, when and why, in any script, and no signing time in its CMS', async () => {
    const order = { name: 'Zoë Ångström', reason: 'Agreed (by phone)', location: 'Bern' };
    const bytes = await sign(withStreams(), ada, order);
    const text = Buffer.from(bytes).toString('latin1');
    expect(text).toContain('/SubFilter /ETSI.CAdES.detached');
    expect(text).toContain('/M (D:20260301120000Z)');
    expect(text).toContain(
      `/Name <feff${Buffer.from('Zoë Ångström', 'utf16le').swap16().toString('hex')}>`,
    );
    const [{ cms } = { cms: Buffer.alloc(0) }] = signaturesIn(bytes);
    const signingTime = Buffer.from('06092a864886f70d010905', 'hex');
    expect(cms.includes(signingTime)).toBe(false);
  });

  it('fills an empty field of the document', async () => {
    const bytes = kinds['with an empty field for a signature'] ?? Buffer.alloc(0);
    const signed = await sign(bytes, ada, { fieldName: 'here' });
    await opensslAccepts(signed);
    expect(
      Buffer.from(signed)
        .toString('latin1')
        .match(/\/T \(here\)/g),
    ).toHaveLength(2);
  });

  it('is seen at its place on a turned page, with its font in the file', async () => {
    for (const rotate of [0, 90, 180, 270]) {
      const bytes = withTable(objectsOf({ page: `/Rotate ${rotate}` }));
      const place = { page: 1, x: 10, y: 20, width: 120, height: 40 };
      const lines = ['Zoë Ångström', 'Ελένη Иван 漢', '2026-03-01 12:00 UTC'];
      const signed = await sign(bytes, ada, { place, lines });
      await opensslAccepts(signed);
      expect(Buffer.from(signed).toString('latin1')).toContain('+LiberationSans');
      expect(await checkPdf(signed)).toMatchObject({ ok: true });
    }
  });

  it('has a record beside it, which it covers, and which cannot be changed', async () => {
    const record = Buffer.from(randomBytes(50_000).toString('base64'));
    const once = await sign(withTable(), ada);
    const sealed = await sign(once, bob, { fieldName: 'seal', record });
    expect(recordsIn(sealed)).toEqual(new Map([['seal', record]]));
    expect(recordsIn(once)).toEqual(new Map());
    expect(recordsIn(Buffer.from('no PDF'))).toEqual(new Map());
    expect(await verifyPdf(sealed, { roots, at })).toMatchObject({ ok: true });
    const changed = Buffer.from(sealed);
    const place = changed.indexOf('/ParaphRecord') + 40;
    changed[place] = (changed[place] ?? 0) ^ 1;
    const report = await verifyPdf(changed, { roots, at });
    // The first signature never covered the record.
    expect(report.signatures.map(({ intact }) => intact)).toEqual([true, false]);
  });

  it('that is larger than the room for it is not embedded', async () => {
    const prepared = made(
      await prepareSignature(withTable(), { fieldName: 'S', at, reservedBytes: 10 }),
    );
    expect(() => prepared.embed(Buffer.alloc(11))).toThrow('10 are reserved');
  });
});

const certified = (level: number): Buffer =>
  withTable(
    objectsOf({
      catalog: '/AcroForm <</Fields [8 0 R] /SigFlags 3>> /Perms <</DocMDP 9 0 R>>',
      change: {
        8: '<</Type /Annot /Subtype /Widget /FT /Sig /T (author) /Rect [0 0 0 0] /P 3 0 R /V 9 0 R>>',
        9: `<</Type /Sig /Reference [<</TransformMethod /DocMDP /TransformParams <</P ${level}>>>>] /ByteRange [0 1 2 3] /Contents <00>>>`,
      },
    }),
  );
const locked = (lock: string): Buffer =>
  withTable(
    objectsOf({
      catalog: '/AcroForm <</Fields [8 0 R] /SigFlags 3>>',
      change: {
        8: '<</Type /Annot /Subtype /Widget /FT /Sig /T (first) /Rect [0 0 0 0] /P 3 0 R /V 9 0 R>>',
        9: `<</Type /Sig /Reference [<</TransformMethod /FieldMDP /TransformParams <<${lock}>>>>] /ByteRange [0 1 2 3] /Contents <00>>>`,
      },
    }),
  );

describe('a document refuses a signature', () => {
  it.each<[string, Uint8Array, object, RegExp]>([
    ['that its certification forbids', certified(1), {}, /allows no changes/],
    ['that a lock of all fields forbids', locked('/Action /All'), {}, /locks this field/],
    ['that a lock names', locked('/Action /Include /Fields [(S)]'), {}, /locks this field/],
    [
      'that a lock does not leave out',
      locked('/Action /Exclude /Fields [(T)]'),
      {},
      /locks this field/,
    ],
    ['in a field that is signed', certified(2), { fieldName: 'author' }, /field of that name/],
    [
      'in a field of text',
      kinds['with a form'] ?? Buffer.alloc(0),
      { fieldName: 'name' },
      /field of that name/,
    ],
    [
      'beside its page',
      withTable(),
      { place: { page: 1, x: 250, y: 0, width: 100, height: 20 } },
      /not on its page/,
    ],
    [
      'on a page that it lacks',
      withTable(),
      { place: { page: 2, x: 0, y: 0, width: 10, height: 20 } },
      /no page 2; it has 1/,
    ],
  ])('%s', async (_, bytes, order, sentence) => {
    const prepared = await prepareSignature(bytes, { fieldName: 'S', at, ...order });
    expect(prepared).toEqual({ ok: false, error: expect.stringMatching(sentence) });
  });

  it('but not one that its certification or its locks allow', async () => {
    for (const bytes of [
      certified(2),
      certified(3),
      locked('/Action /Include /Fields [(T)]'),
      locked('/Action /Exclude /Fields [(S)]'),
    ])
      expect(await prepareSignature(bytes, { fieldName: 'S', at })).toMatchObject({ ok: true });
  });
});
