/** Which PDFs may be signed, and the sentences for the others. */
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { checkPdf } from '../../pdf/index.ts';
import {
  deflated,
  hybrid,
  kinds,
  objectsOf,
  savedAgain,
  stream,
  withStreams,
  withTable,
} from './samples.ts';

describe('a PDF that may be signed', () => {
  it.each(Object.entries(kinds))('is one %s', async (_, bytes) => {
    const checked = await checkPdf(bytes);
    expect(checked).toMatchObject({ ok: true, about: { title: 'Rental contract', signatures: 0 } });
  });

  it('is told with the number of its pages', async () => {
    const bytes = withStreams(objectsOf({ pages: 7 }));
    expect(await checkPdf(bytes)).toMatchObject({ about: { pages: 7 } });
  });

  it.each([
    ['<rdf:Description pdfaid:part="2" pdfaid:conformance="B"/>', '2b'],
    ['<pdfaid:part>3</pdfaid:part><pdfaid:conformance>U</pdfaid:conformance>', '3u'],
    ['<pdfaid:part>4</pdfaid:part>', '4'],
    ['<dc:title>PDF/A</dc:title>', undefined],
  ])('is told with the part of PDF/A that it claims: %s', async (xmp, pdfA) => {
    const metadata = stream('/Type /Metadata /Subtype /XML', xmp);
    const objects = objectsOf({ catalog: '/Metadata 7 0 R', change: { 7: metadata } });
    const checked = await checkPdf(withTable(objects));
    expect(checked.ok && checked.about.pdfA).toBe(pdfA);
  });

  it('has a title of one line, whatever it contains', async () => {
    const title = Buffer.from('\ufeffA\u202eB\nC\ud83d\ude00', 'utf16le').swap16().toString('hex');
    const objects = objectsOf({ change: { 6: `<</Title <${title}>>>` } });
    const checked = await checkPdf(withTable(objects));
    expect(checked.ok && checked.about.title).toBe('A B C\ud83d\ude00');
  });
});

const zeros = Buffer.alloc(20 << 20);
const bomb = (): Buffer => {
  const packed = deflateSync(zeros);
  // Sixty streams of 20 MB: 1.2 GB in 1.2 MB.
  const change = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [10 + index, stream('/Filter /FlateDecode', packed)]),
  );
  const list = Array.from({ length: 60 }, (_, index) => `${10 + index} 0 R`).join(' ');
  return withTable(objectsOf({ catalog: `/All [${list}]`, change }));
};
const objectStreamBomb = (): Buffer =>
  Buffer.from(withStreams(objectsOf({ catalog: `/Text (${'x'.repeat(17 << 20)})` })));

const action = (entries: string): Buffer =>
  withTable(objectsOf({ catalog: '/OpenAction 7 0 R', change: { 7: `<<${entries}>>` } }));

describe('a PDF is refused with a sentence', () => {
  it.each<[string, () => Uint8Array, RegExp]>([
    ['that is another file', () => Buffer.from('GIF89a'), /not a PDF/],
    [
      'that shows data of another file',
      () => withTable(objectsOf({ change: { 4: stream('/F (other.txt)', '') } })),
      /data of another file/,
    ],
    ['that is empty', () => new Uint8Array(), /not a PDF/],
    ['that is cut off', () => withTable().subarray(0, 500), /broken/],
    [
      'whose table is wrong',
      () =>
        Buffer.from(
          withTable()
            .toString('latin1')
            .replace(/\d{10} 00000 n/, '0000000077 00000 n'),
          'latin1',
        ),
      /broken: object 1/,
    ],
    ['that is encrypted', () => withTable(objectsOf(), '/Encrypt 6 0 R'), /encrypted/],
    [
      'that is encrypted, and a later save hides it',
      () => savedAgain(withTable(objectsOf(), '/Encrypt 6 0 R'), new Map([[6, '<<>>']])),
      /encrypted/,
    ],
    ['with JavaScript that opens', () => action('/S /JavaScript /JS (app.alert(1))'), /JavaScript/],
    [
      'with JavaScript by another spelling',
      () => action('/S /Java#53cript /JS (app.alert(1))'),
      /JavaScript/,
    ],
    [
      'with JavaScript in its names',
      () => withTable(objectsOf({ catalog: '/Names <</JavaScript <</Names [(a) 7 0 R]>>>>' })),
      /JavaScript/,
    ],
    [
      'with JavaScript that nothing refers to yet',
      () => withTable(objectsOf({ change: { 9: '<</S /JavaScript /JS (1)>>' } })),
      /JavaScript/,
    ],
    [
      'with JavaScript in an object stream',
      () =>
        withStreams(
          objectsOf({ catalog: '/AA <</WC 7 0 R>>', change: { 7: '<</S /JavaScript /JS (1)>>' } }),
        ),
      /JavaScript/,
    ],
    ['that starts programs', () => action('/S /Launch /F (calc.exe)'), /starts programs/],
    [
      'that is an XFA form',
      () => withTable(objectsOf({ catalog: '/AcroForm <</XFA [(a) 4 0 R] /Fields []>>' })),
      /XFA/,
    ],
    [
      'with more than 2 000 pages',
      () => withStreams(objectsOf({ pages: 2001 })),
      /more than 2,000 pages/,
    ],
    ['that is larger than 50 MB', () => Buffer.alloc((50 << 20) + 1), /larger than 50 MB/],
    ['that unpacks to a gigabyte', bomb, /bomb/],
    ['whose objects unpack to too much', objectStreamBomb, /bomb/],
    [
      'that is packed many times',
      () =>
        withTable(
          objectsOf({
            catalog: '/X 7 0 R',
            change: {
              7: stream(
                '/Filter [/FlateDecode /FlateDecode /FlateDecode]',
                deflateSync(deflateSync(deflateSync(zeros))),
              ),
            },
          }),
        ),
      /bomb/,
    ],
    [
      'whose pages go round',
      () => withTable(objectsOf({ change: { 2: '<</Type /Pages /Kids [2 0 R] /Count 1>>' } })),
      /pages cannot be found/,
    ],
    [
      'without pages',
      () => withTable(objectsOf({ change: { 2: '<</Type /Pages /Kids [] /Count 0>>' } })),
      /no pages/,
    ],
    [
      'whose references go round',
      () =>
        withTable(objectsOf({ catalog: '/AcroForm 7 0 R', change: { 7: '8 0 R', 8: '7 0 R' } })),
      /circle/,
    ],
    ['whose sections go round', roundSections, /circle/],
    [
      'that says one key twice',
      () => withTable(objectsOf({ page: '/Rotate 0 /Rotate 90' })),
      /two values for one key/,
    ],
    [
      'with values a thousand deep',
      () => withTable(objectsOf({ catalog: `/X ${'['.repeat(1000)}${']'.repeat(1000)}` })),
      /too deep/,
    ],
    [
      'with a stream of another length',
      () =>
        Buffer.from(withTable().toString('latin1').replace('/Length 60', '/Length 10'), 'latin1'),
      /another length/,
    ],
  ])('%s', async (_, make, sentence) => {
    const checked = await checkPdf(make());
    expect(checked).toEqual({ ok: false, error: expect.stringMatching(sentence) });
    expect(!checked.ok && checked.error).toMatch(/^[A-Z].*\.$/);
  });

  it('whichever byte is cut off or changed: never with an exception', async () => {
    for (const bytes of [withTable(), withStreams(), hybrid()])
      for (let at = 0; at < bytes.length; at += 7) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ 0x15;
        for (const tried of [changed, bytes.subarray(0, at)])
          expect(await checkPdf(tried)).toHaveProperty('ok');
      }
  });
});

function roundSections(): Buffer {
  const bytes = withTable();
  const start = bytes.lastIndexOf('xref\n0 1');
  return Buffer.from(
    bytes.toString('latin1').replace('/Size 7', `/Prev ${start} /Size 7`),
    'latin1',
  );
}

describe('a PDF that links, has layers or is compressed', () => {
  it('is kept', async () => {
    const link =
      '<</Type /Annot /Subtype /Link /Rect [0 0 9 9] /A <</S /URI /URI (https://example.org)>>>>';
    const objects = objectsOf({
      page: `/Annots [${link}]`,
      catalog: '/OpenAction [3 0 R /Fit] /OCProperties <</OCGs [] /D <<>>>>',
      change: { 4: deflated('', 'BT /F1 18 Tf (Hi) Tj ET') },
    });
    expect(await checkPdf(withTable(objects))).toMatchObject({ ok: true });
  });
});
