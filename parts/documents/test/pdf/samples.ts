/** PDFs of the kinds that programs write, made for the tests: small, and each with one trait. */
import { deflateSync } from 'node:zlib';

/** Bodies of objects by their number, without `obj` and `endobj`. */
export type Objects = ReadonlyMap<number, string | Uint8Array>;

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

export const stream = (entries: string, data: Uint8Array | string): Buffer => {
  const bytes = typeof data === 'string' ? latin1(data) : data;
  return Buffer.concat([
    latin1(`<<${entries} /Length ${bytes.length}>>\nstream\n`),
    bytes,
    latin1('\nendstream'),
  ]);
};

export const deflated = (entries: string, data: Uint8Array | string): Buffer =>
  stream(`${entries} /Filter /FlateDecode`, deflateSync(data));

const text = 'BT /F1 18 Tf 50 100 Td (Rental contract: 1200 a month) Tj ET';

/** A document of one page; `change` replaces or adds objects, `page` and `catalog` add entries. */
export const objectsOf = ({
  change = {},
  page = '',
  catalog = '',
  pages = 1,
}: {
  readonly change?: Readonly<Record<number, string | Uint8Array>>;
  readonly page?: string;
  readonly catalog?: string;
  readonly pages?: number;
} = {}): Map<number, string | Uint8Array> => {
  const kids = Array.from({ length: pages }, (_, index) => (index === 0 ? 3 : 100 + index));
  const pageOf = `<</Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources <</Font <</F1 5 0 R>>>> ${page}>>`;
  return new Map<number, string | Uint8Array>([
    [1, `<</Type /Catalog /Pages 2 0 R ${catalog}>>`],
    [2, `<</Type /Pages /Kids [${kids.map((kid) => `${kid} 0 R`).join(' ')}] /Count ${pages}>>`],
    ...kids.map((kid): [number, string] => [kid, pageOf]),
    [4, stream('', text)],
    [5, '<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>'],
    [6, '<</Title (Rental contract)>>'],
    ...Object.entries(change).map(([number, body]): [number, string | Uint8Array] => [
      Number(number),
      body,
    ]),
  ]);
};

interface Placed {
  readonly bytes: Buffer;
  readonly offsets: ReadonlyMap<number, number>;
}

const place = (objects: Objects, start: number): Placed => {
  const offsets = new Map<number, number>();
  const parts: Buffer[] = [];
  let at = start;
  for (const [number, body] of objects) {
    offsets.set(number, at);
    const bytes = Buffer.concat([
      latin1(`${number} 0 obj\n`),
      typeof body === 'string' ? latin1(body) : body,
      latin1('\nendobj\n'),
    ]);
    parts.push(bytes);
    at += bytes.length;
  }
  return { bytes: Buffer.concat(parts), offsets };
};

const entry = (offset: number): string => `${String(offset).padStart(10, '0')} 00000 n\r\n`;

/** One section of a table for each object, which is allowed and simple. */
const tableOf = (offsets: ReadonlyMap<number, number>): string =>
  `xref\n0 1\n0000000000 65535 f\r\n${[...offsets]
    .map(([number, offset]) => `${number} 1\n${entry(offset)}`)
    .join('')}`;

const sizeOf = (objects: Objects): number =>
  [...objects.keys()].reduce((most, number) => Math.max(most, number), 0) + 1;

/** With a table, as PDF 1.4 has it. */
export const withTable = (
  objects: Objects = objectsOf(),
  trailer = '',
  header = '%PDF-1.7\n%\xe2\xe3\xcf\xd3\n',
): Buffer => {
  const { bytes, offsets } = place(objects, header.length);
  const start = header.length + bytes.length;
  return Buffer.concat([
    latin1(header),
    bytes,
    latin1(
      `${tableOf(offsets)}trailer\n<</Size ${sizeOf(objects)} /Root 1 0 R /Info 6 0 R ${trailer}>>\nstartxref\n${start}\n%%EOF\n`,
    ),
  ]);
};

type Entry = readonly [type: number, place: number, extra: number];

/** The rows of a cross-reference stream, with the predictor that programs use. */
const rowsOf = (entries: ReadonlyMap<number, Entry>): { index: string; data: Buffer } => {
  const numbers = [...entries.keys()].toSorted((one, other) => one - other);
  let before = Buffer.alloc(7);
  const rows = numbers.map((number) => {
    const [type, offset, extra] = entries.get(number) ?? [0, 0, 0];
    const row = Buffer.alloc(7);
    row[0] = type;
    row.writeUInt32BE(offset, 1);
    row.writeUInt16BE(extra, 5);
    const up = Buffer.from(row.map((byte, at) => byte - (before[at] ?? 0)));
    before = row;
    return Buffer.concat([Buffer.of(2), up]);
  });
  return { index: numbers.map((number) => `${number} 1`).join(' '), data: Buffer.concat(rows) };
};

const xrefStream = (entries: ReadonlyMap<number, Entry>, trailer: string): Buffer => {
  const { index, data } = rowsOf(entries);
  return deflated(
    `/Type /XRef /W [1 4 2] /Index [${index}] ${trailer} /DecodeParms <</Predictor 12 /Columns 7>>`,
    data,
  );
};

const objectStream = (objects: Objects): Buffer => {
  let heads = '';
  let bodies = '';
  for (const [number, body] of objects) {
    heads += `${number} ${bodies.length} `;
    bodies += `${String(body)}\n`;
  }
  return deflated(`/Type /ObjStm /N ${objects.size} /First ${heads.length}`, heads + bodies);
};

const isText = ([, body]: readonly [number, string | Uint8Array]): boolean =>
  typeof body === 'string';

/** With object streams and a cross-reference stream, as PDF 1.5 has them. */
export const withStreams = (
  objects: Objects = objectsOf(),
  header = '%PDF-1.5\n',
  isPacked: (each: readonly [number, string | Uint8Array]) => boolean = isText,
): Buffer => {
  const [container, own] = [sizeOf(objects), sizeOf(objects) + 1];
  const packed = new Map([...objects].filter(isPacked));
  const outside = new Map([...objects].filter((each) => !isPacked(each)));
  if (packed.size > 0) outside.set(container, objectStream(packed));
  const { bytes, offsets } = place(outside, header.length);
  const start = header.length + bytes.length;
  const entries = new Map<number, Entry>([
    [0, [0, 0, 65_535]],
    ...[...offsets].map(([number, offset]): [number, Entry] => [number, [1, offset, 0]]),
    ...[...packed.keys()].map((number, index): [number, Entry] => [number, [2, container, index]]),
    [own, [1, start, 0]],
  ]);
  const last = xrefStream(entries, `/Size ${own + 1} /Root 1 0 R /Info 6 0 R`);
  return Buffer.concat([
    latin1(header),
    bytes,
    latin1(`${own} 0 obj\n`),
    last,
    latin1(`\nendobj\nstartxref\n${start}\n%%EOF\n`),
  ]);
};

/** Hybrid: a table for readers of PDF 1.4, and a stream with the objects that they do not see. */
export const hybrid = (objects: Objects = objectsOf()): Buffer => {
  const header = '%PDF-1.5\n';
  const container = sizeOf(objects);
  const hidden = new Map([...objects].filter(([number]) => number === 6));
  const shown = new Map([...objects].filter(([number]) => number !== 6));
  shown.set(container, objectStream(hidden));
  const { bytes, offsets } = place(shown, header.length);
  const more = header.length + bytes.length;
  const streamObject = Buffer.concat([
    latin1(`${container + 1} 0 obj\n`),
    xrefStream(new Map([[6, [2, container, 0]]]), `/Size ${container + 2} /Root 1 0 R`),
    latin1('\nendobj\n'),
  ]);
  const start = more + streamObject.length;
  return Buffer.concat([
    latin1(header),
    bytes,
    streamObject,
    latin1(
      `${tableOf(offsets)}trailer\n<</Size ${container + 2} /Root 1 0 R /Info 6 0 R /XRefStm ${more}>>\nstartxref\n${start}\n%%EOF\n`,
    ),
  ]);
};

/**
 * Linearised: a first section for the objects of the first page stands at the beginning, and the
 * end of the file leads to it; it leads to the section with all others.
 */
const linearised = (objects: Objects = objectsOf()): Buffer => {
  const header = '%PDF-1.4\n';
  const ofFirstPage = new Set([1, 3, 4, 5]);
  const size = sizeOf(objects) + 1;
  const dictionary = new Map([[size - 1, `<</Linearized 1 /L 0 /H [0 0] /O 3 /E 0 /N 1 /T 0>>`]]);
  const begin = place(dictionary, header.length);
  const firstAt = header.length + begin.bytes.length;
  const first = new Map([...objects].filter(([number]) => ofFirstPage.has(number)));
  const others = new Map([...objects].filter(([number]) => !ofFirstPage.has(number)));
  /** As long for every place, because its numbers are padded. */
  const sectionOf = (offsets: ReadonlyMap<number, number>, previous: number): string =>
    `xref\n${[...begin.offsets, ...offsets]
      .map(([number, offset]) => `${number} 1\n${entry(offset)}`)
      .join(
        '',
      )}trailer\n<</Size ${size} /Root 1 0 R /Info 6 0 R /Prev ${String(previous).padStart(10, '0')}>>\nstartxref\n0\n%%EOF\n`;
  const bodiesAt = firstAt + sectionOf(place(first, 0).offsets, 0).length;
  const firstBodies = place(first, bodiesAt);
  const otherBodies = place(others, bodiesAt + firstBodies.bytes.length);
  const mainAt = bodiesAt + firstBodies.bytes.length + otherBodies.bytes.length;
  return Buffer.concat([
    latin1(header),
    begin.bytes,
    latin1(sectionOf(firstBodies.offsets, mainAt)),
    firstBodies.bytes,
    otherBodies.bytes,
    latin1(
      `${tableOf(otherBodies.offsets)}trailer\n<</Size ${size}>>\nstartxref\n${firstAt}\n%%EOF\n`,
    ),
  ]);
};

/** Another save of a file with a table: objects that are new, or in the place of others. */
export const savedAgain = (before: Uint8Array, objects: Objects, trailer = ''): Buffer => {
  const [, previous = '0'] =
    /startxref\s+(\d+)\s+%%EOF\s*$/.exec(Buffer.from(before.subarray(-100)).toString('latin1')) ??
    [];
  const { bytes, offsets } = place(objects, before.length);
  const size = Math.max(sizeOf(objects), 1000);
  const start = before.length + bytes.length;
  const rows = [...offsets].map(([number, offset]) => `${number} 1\n${entry(offset)}`).join('');
  const root = trailer.includes('/Root') ? '' : '/Root 1 0 R';
  return Buffer.concat([
    before,
    bytes,
    latin1(
      `xref\n${rows}trailer\n<</Size ${size} ${root} /Info 6 0 R /Prev ${previous} ${trailer}>>\nstartxref\n${start}\n%%EOF\n`,
    ),
  ]);
};

/** What programs make, each under the name of its kind. */
export const kinds: Readonly<Record<string, Buffer>> = {
  'with a table': withTable(),
  'with object streams': withStreams(),
  'with a cross-reference stream alone': withStreams(objectsOf(), '%PDF-1.5\n', () => false),
  linearised: linearised(),
  hybrid: hybrid(),
  'of PDF 2.0': withTable(objectsOf(), '', '%PDF-2.0\n'),
  'saved twice': savedAgain(withTable(), new Map([[6, '<</Title (Rental contract)>>']])),
  'with a turned page': withTable(objectsOf({ page: '/Rotate 90' })),
  'with a huge page': withTable(
    objectsOf({
      change: {
        3: '<</Type /Page /Parent 2 0 R /MediaBox [0 0 14400 14400] /UserUnit 10 /Contents 4 0 R /Resources <</Font <</F1 5 0 R>>>>>>',
      },
    }),
  ),
  'with a form': withTable(
    objectsOf({
      catalog: '/AcroForm 7 0 R',
      change: {
        7: '<</Fields [8 0 R] /DA (/Helv 0 Tf 0 g)>>',
        8: '<</Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Ada) /Rect [10 10 90 30] /P 3 0 R>>',
      },
      page: '/Annots [8 0 R]',
    }),
  ),
  'with an empty field for a signature': withTable(
    objectsOf({
      catalog: '/AcroForm <</Fields [8 0 R] /SigFlags 1>>',
      change: {
        8: '<</Type /Annot /Subtype /Widget /FT /Sig /T (here) /Rect [10 10 90 30] /P 3 0 R>>',
      },
      page: '/Annots 9 0 R',
    }).set(9, '[8 0 R]'),
  ),
  'with an attachment': withTable(
    objectsOf({
      catalog: '/Names <</EmbeddedFiles <</Names [(a.txt) 7 0 R]>>>>',
      change: {
        7: '<</Type /Filespec /F (a.txt) /UF (a.txt) /EF <</F 8 0 R>>>>',
        8: stream('/Type /EmbeddedFile', 'attached'),
      },
    }),
  ),
  'without an end of line at its end': withTable().subarray(0, -1),
  'with a thousand pages': withStreams(objectsOf({ pages: 1000 })),
};
