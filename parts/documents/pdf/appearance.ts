/**
 * Draws the visible part of a signature: lines of text in a thin frame, upright on the page as it is
 * shown. The font is embedded and grey is defined by itself, so that PDF/A stays PDF/A.
 *
 * Source: ISO 32000-2 sections 9.7 and 12.5.5, ISO 19005-1 to -3.
 */
import { deflateSync } from 'node:zlib';
import type { PdfDocument } from './document.ts';
import { cutFont, type FontSubset, widthOfLine } from './font.ts';
import { pdfAOf } from './metadata.ts';
import type { Page } from './pages.ts';
import type { Place } from './sign.ts';
import type { Update } from './update.ts';
import {
  byteString,
  dict,
  isArray,
  name,
  PdfError,
  type PdfRef,
  type PdfStream,
  type PdfValue,
} from './values.ts';

export interface Appearance {
  /** Of the annotation, in the coordinates of the page. */
  readonly rect: readonly number[];
  /** Undefined for an invisible field. */
  readonly form: PdfRef | undefined;
}

const streamOf = (
  content: Uint8Array | string,
  entries: Readonly<Record<string, PdfValue>> = {},
): PdfStream => ({
  kind: 'stream',
  dict: dict({ ...entries, Filter: name('FlateDecode') }),
  raw: deflateSync(typeof content === 'string' ? Buffer.from(content, 'latin1') : content),
});

const hex = (value: number): string => value.toString(16).padStart(4, '0');

const toUnicode = ({ characters }: FontSubset): string => {
  const pairs = [...characters].map(
    ([glyph, character]) =>
      `<${hex(glyph)}> <${Buffer.from(character, 'utf16le').swap16().toString('hex')}>`,
  );
  // At most 100 in one block (9.10.3).
  const blocks = Array.from({ length: Math.ceil(pairs.length / 100) }, (_, index) =>
    pairs.slice(index * 100, index * 100 + 100),
  ).map((block) => `${block.length} beginbfchar\n${block.join('\n')}\nendbfchar`);
  return `/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000> <ffff>
endcodespacerange
${blocks.join('\n')}
endcmap
CMapName currentdict /CMap defineresource pop
end
end`;
};

/** The bits of the glyphs that are there, which only PDF/A-1 wants. */
const glyphBits = ({ widths }: FontSubset): Buffer => {
  const bits = Buffer.alloc((Math.max(...widths.keys(), 0) >> 3) + 1);
  for (const glyph of [0, ...widths.keys()])
    bits[glyph >> 3] = (bits[glyph >> 3] ?? 0) | (0x80 >> (glyph & 7));
  return bits;
};

const addFont = (update: Update, subset: FontSubset, withGlyphBits: boolean): PdfRef => {
  const { name: fontName, file, widths } = subset;
  const descriptor = update.add(
    dict({
      Type: name('FontDescriptor'),
      FontName: name(fontName),
      Flags: 32,
      FontBBox: [-203, -303, 1050, 910],
      ItalicAngle: 0,
      Ascent: 905,
      Descent: -212,
      CapHeight: 688,
      StemV: 80,
      FontFile2: update.add(streamOf(file, { Length1: file.length })),
      CIDSet: withGlyphBits ? update.add(streamOf(glyphBits(subset))) : undefined,
    }),
  );
  const sorted = [...widths].toSorted(([one], [other]) => one - other);
  const system = { Registry: 'Adobe', Ordering: 'Identity' };
  const descendant = update.add(
    dict({
      Type: name('Font'),
      Subtype: name('CIDFontType2'),
      BaseFont: name(fontName),
      CIDSystemInfo: dict({
        Registry: byteString(Buffer.from(system.Registry)),
        Ordering: byteString(Buffer.from(system.Ordering)),
        Supplement: 0,
      }),
      FontDescriptor: descriptor,
      CIDToGIDMap: name('Identity'),
      W: sorted.flatMap(([glyph, width]): PdfValue[] => [glyph, [width]]),
    }),
  );
  return update.add(
    dict({
      Type: name('Font'),
      Subtype: name('Type0'),
      BaseFont: name(fontName),
      Encoding: name('Identity-H'),
      DescendantFonts: [descendant],
      ToUnicode: update.add(streamOf(toUnicode(subset))),
    }),
  );
};

type Box = readonly [left: number, bottom: number, right: number, top: number];

const boxOf = (value: PdfValue): Box | undefined => {
  const numbers = isArray(value) ? value.filter((each) => typeof each === 'number') : [];
  const [a, b, c, d] = numbers;
  if (a === undefined || b === undefined || c === undefined || d === undefined) return undefined;
  return [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)];
};

/** A page without a box is as large as American paper, which is what readers take. */
const usualBox: Box = [0, 0, 612, 792];

/** The place in the coordinates of the page, and how far the page is turned. */
const turn = (
  page: Page,
  place: Place,
): { readonly rect: Box; readonly matrix: readonly number[] } => {
  const [left, bottom, right, top] =
    boxOf(page.inherited('CropBox')) ?? boxOf(page.inherited('MediaBox')) ?? usualBox;
  const rotate = page.inherited('Rotate');
  const quarters = ((((typeof rotate === 'number' ? rotate / 90 : 0) % 4) + 4) % 4) | 0;
  const isSideways = quarters % 2 === 1;
  const shown = isSideways
    ? { width: top - bottom, height: right - left }
    : { width: right - left, height: top - bottom };
  const { x, y, width, height } = place;
  const isInside =
    x >= 0 &&
    y >= 0 &&
    width > 0 &&
    height > 0 &&
    x + width <= shown.width &&
    y + height <= shown.height;
  if (!isInside) throw new PdfError('The place for the signature is not on its page.');
  const turned: readonly (readonly [Box, readonly number[]])[] = [
    [
      [left + x, bottom + y, left + x + width, bottom + y + height],
      [1, 0, 0, 1, 0, 0],
    ],
    [
      [right - y - height, bottom + x, right - y, bottom + x + width],
      [0, 1, -1, 0, 0, 0],
    ],
    [
      [right - x - width, top - y - height, right - x, top - y],
      [-1, 0, 0, -1, 0, 0],
    ],
    [
      [left + y, top - x - width, left + y + height, top - x],
      [0, -1, 1, 0, 0, 0],
    ],
  ];
  const [rect, matrix] = turned[quarters] ?? [usualBox, []];
  return { rect, matrix };
};

const padding = 3;
const lineHeight = 1.2;
const largestSize = 12;

const draw = (subset: FontSubset, { width, height }: Place): string => {
  const widest = Math.max(1, ...subset.lines.map((line) => widthOfLine(subset, line)));
  const size = Math.min(
    largestSize,
    ((width - 2 * padding) * 1000) / widest,
    (height - 2 * padding) / (subset.lines.length * lineHeight),
  );
  const round = (value: number): string => value.toFixed(2);
  const text = subset.lines.map((line, index) => {
    const down = height - padding - size * (0.9 + index * lineHeight);
    return `1 0 0 1 ${padding} ${round(down)} Tm <${line.map(hex).join('')}> Tj`;
  });
  return `q 0.5 w 0.5 0.5 ${round(width - 1)} ${round(height - 1)} re S BT /F1 ${round(Math.max(size, 0.5))} Tf\n${text.join('\n')}\nET Q`;
};

/** What stands in a line may come from anywhere; a line of it is one line. */
const cleanLine = (line: string): string =>
  line.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 200);

/**
 * Adds the picture of a signature.
 *
 * @throws PdfError When the place is not on the page.
 */
export const addAppearance = (
  document: PdfDocument,
  update: Update,
  page: Page,
  place: Place,
  lines: readonly string[],
): Appearance => {
  const { rect, matrix } = turn(page, place);
  const subset = cutFont(lines.map(cleanLine));
  const font = addFont(update, subset, pdfAOf(document)?.startsWith('1') === true);
  const grey = dict({ WhitePoint: [0.9505, 1, 1.089], Gamma: 2.2 });
  const form = update.add(
    streamOf(draw(subset, place), {
      Type: name('XObject'),
      Subtype: name('Form'),
      BBox: [0, 0, place.width, place.height],
      Matrix: matrix,
      Resources: dict({
        Font: dict({ F1: font }),
        ColorSpace: dict({ DefaultGray: [name('CalGray'), grey] }),
      }),
    }),
  );
  return { rect, form };
};

/** The picture of an invisible field: PDF/A-1 wants one of every field (ISO 19005-1 6.9). */
export const addEmptyAppearance = (update: Update): PdfRef =>
  update.add(streamOf('', { Type: name('XObject'), Subtype: name('Form'), BBox: [0, 0, 0, 0] }));
