/**
 * Cuts the characters that a text needs out of Liberation Sans, so that a file can embed them, as
 * PDF/A demands. The font has Latin, Greek and Cyrillic letters; any other character is shown as a
 * question mark, because PDF/A forbids the glyph for missing ones.
 *
 * Glyphs keep their numbers, so that no table but `glyf` and `loca` has to be made anew.
 *
 * Source: OpenType 1.9 (cmap, glyf, loca, hmtx).
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

interface Font {
  readonly tables: ReadonlyMap<string, Buffer>;
  readonly glyphs: number;
  readonly unitsPerEm: number;
  glyphOf(codePoint: number): number | undefined;
  /** In thousandths of the size. */
  widthOf(glyph: number): number;
}

const readTables = (bytes: Buffer): ReadonlyMap<string, Buffer> => {
  const tables = new Map<string, Buffer>();
  for (let index = 0; index < bytes.readUInt16BE(4); index += 1) {
    const at = 12 + index * 16;
    const start = bytes.readUInt32BE(at + 8);
    tables.set(
      bytes.toString('latin1', at, at + 4),
      bytes.subarray(start, start + bytes.readUInt32BE(at + 12)),
    );
  }
  return tables;
};

/** The sub-table of Unicode, format 4. */
const readMap = (cmap: Buffer): ReadonlyMap<number, number> => {
  const map = new Map<number, number>();
  const count = cmap.readUInt16BE(2);
  const records = Array.from({ length: count }, (_, index) => 4 + index * 8);
  const unicode = records.find((at) => cmap.readUInt32BE(at) === 0x0003_0001);
  const table = cmap.subarray(cmap.readUInt32BE((unicode ?? 4) + 4));
  const segments = table.readUInt16BE(6) / 2;
  for (let segment = 0; segment < segments; segment += 1) {
    const end = table.readUInt16BE(14 + segment * 2);
    const start = table.readUInt16BE(16 + (segments + segment) * 2);
    const delta = table.readUInt16BE(16 + (segments * 2 + segment) * 2);
    const rangeAt = 16 + (segments * 3 + segment) * 2;
    const range = table.readUInt16BE(rangeAt);
    for (let code = start; code <= end && code < 0xffff; code += 1) {
      const found = range === 0 ? code : table.readUInt16BE(rangeAt + range + (code - start) * 2);
      const glyph = found === 0 ? 0 : (found + delta) & 0xffff;
      if (glyph !== 0) map.set(code, glyph);
    }
  }
  return map;
};

const tableOf = (tables: ReadonlyMap<string, Buffer>, tag: string): Buffer => {
  const table = tables.get(tag);
  if (table === undefined) throw new Error(`the font has no table ${tag}`);
  return table;
};

let opened: Font | undefined;

const openFont = (): Font => {
  if (opened !== undefined) return opened;
  const tables = readTables(
    readFileSync(new URL('../assets/LiberationSans-Regular.ttf', import.meta.url)),
  );
  const map = readMap(tableOf(tables, 'cmap'));
  const unitsPerEm = tableOf(tables, 'head').readUInt16BE(18);
  const metrics = tableOf(tables, 'hhea').readUInt16BE(34);
  const hmtx = tableOf(tables, 'hmtx');
  opened = {
    tables,
    glyphs: tableOf(tables, 'maxp').readUInt16BE(4),
    unitsPerEm,
    glyphOf: (codePoint) => map.get(codePoint),
    widthOf: (glyph) =>
      Math.round((hmtx.readUInt16BE(Math.min(glyph, metrics - 1) * 4) * 1000) / unitsPerEm),
  };
  return opened;
};

/** Where each glyph begins in `glyf`, and where the last one ends. */
const readPlaces = (font: Font): readonly number[] => {
  const loca = tableOf(font.tables, 'loca');
  const isLong = tableOf(font.tables, 'head').readInt16BE(50) === 1;
  return Array.from({ length: font.glyphs + 1 }, (_, glyph) =>
    isLong ? loca.readUInt32BE(glyph * 4) : loca.readUInt16BE(glyph * 2) * 2,
  );
};

/** The glyphs that a composite glyph is made of: letters with accents. */
const partsOf = (glyph: Buffer): readonly number[] => {
  if (glyph.length < 10 || glyph.readInt16BE(0) >= 0) return [];
  const parts: number[] = [];
  let at = 10;
  for (;;) {
    const flags = glyph.readUInt16BE(at);
    parts.push(glyph.readUInt16BE(at + 2));
    at += 4 + ((flags & 1) === 0 ? 2 : 4);
    at += (flags & 8) !== 0 ? 2 : (flags & 0x40) !== 0 ? 4 : (flags & 0x80) !== 0 ? 8 : 0;
    if ((flags & 0x20) === 0) return parts;
  }
};

const checksum = (bytes: Buffer): number => {
  let sum = 0;
  for (let at = 0; at + 4 <= bytes.length; at += 4) sum = (sum + bytes.readUInt32BE(at)) >>> 0;
  return sum;
};

const padded = (bytes: Buffer): Buffer =>
  Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);

const writeFont = (tables: readonly (readonly [string, Buffer])[]): Buffer => {
  const count = tables.length;
  const power = 2 ** Math.floor(Math.log2(count));
  const head = Buffer.alloc(12 + count * 16);
  head.writeUInt32BE(0x0001_0000, 0);
  head.writeUInt16BE(count, 4);
  head.writeUInt16BE(power * 16, 6);
  head.writeUInt16BE(Math.log2(power), 8);
  head.writeUInt16BE((count - power) * 16, 10);
  let at = head.length;
  const bodies = tables.map(([tag, bytes], index) => {
    const body = padded(bytes);
    const record = 12 + index * 16;
    head.write(tag, record, 'latin1');
    head.writeUInt32BE(checksum(body), record + 4);
    head.writeUInt32BE(at, record + 8);
    head.writeUInt32BE(bytes.length, record + 12);
    at += body.length;
    return body;
  });
  const whole = Buffer.concat([head, ...bodies]);
  const headAt = whole.readUInt32BE(12 + tables.findIndex(([tag]) => tag === 'head') * 16 + 8);
  whole.writeUInt32BE((0xb1b0_afba - checksum(whole)) >>> 0, headAt + 8);
  return whole;
};

const cut = (font: Font, wanted: readonly number[]): Buffer => {
  const places = readPlaces(font);
  const glyf = tableOf(font.tables, 'glyf');
  const glyphBytes = (glyph: number): Buffer =>
    glyf.subarray(places[glyph] ?? 0, places[glyph + 1] ?? places[glyph] ?? 0);
  const kept = new Set([0, ...wanted]);
  for (const glyph of kept) for (const part of partsOf(glyphBytes(glyph))) kept.add(part);
  const loca = Buffer.alloc((font.glyphs + 1) * 4);
  const bodies: Buffer[] = [];
  let at = 0;
  for (let glyph = 0; glyph < font.glyphs; glyph += 1) {
    loca.writeUInt32BE(at, glyph * 4);
    if (!kept.has(glyph)) continue;
    const body = padded(glyphBytes(glyph));
    bodies.push(body);
    at += body.length;
  }
  loca.writeUInt32BE(at, font.glyphs * 4);
  const head = Buffer.from(tableOf(font.tables, 'head'));
  head.writeUInt32BE(0, 8);
  head.writeInt16BE(1, 50);
  const same = (tag: string): readonly [string, Buffer] => [tag, tableOf(font.tables, tag)];
  return writeFont([
    same('cvt '),
    same('fpgm'),
    ['glyf', Buffer.concat(bodies)],
    ['head', head],
    same('hhea'),
    same('hmtx'),
    ['loca', loca],
    same('maxp'),
    same('prep'),
  ]);
};

export interface FontSubset {
  /** With the tag of a subset: `ABCDEF+LiberationSans`. */
  readonly name: string;
  /** TrueType. */
  readonly file: Uint8Array;
  /** The glyphs of each line, and of each glyph its width and character. */
  readonly lines: readonly (readonly number[])[];
  readonly widths: ReadonlyMap<number, number>;
  readonly characters: ReadonlyMap<number, string>;
}

/** How wide a line is, in thousandths of the size. */
export const widthOfLine = ({ widths }: FontSubset, line: readonly number[]): number =>
  line.reduce((sum, glyph) => sum + (widths.get(glyph) ?? 0), 0);

/** What of the font the lines need. A character that it lacks becomes a question mark. */
export const cutFont = (lines: readonly string[]): FontSubset => {
  const font = openFont();
  const widths = new Map<number, number>();
  const characters = new Map<number, string>();
  const glyphs = lines.map((line) =>
    [...line.normalize('NFC')].map((character) => {
      const found = font.glyphOf(character.codePointAt(0) ?? 0);
      const glyph = found ?? font.glyphOf(0x3f) ?? 0;
      widths.set(glyph, font.widthOf(glyph));
      characters.set(glyph, found === undefined ? '?' : character);
      return glyph;
    }),
  );
  const file = cut(font, [...widths.keys()]);
  const letters = [...createHash('sha256').update(file).digest().subarray(0, 6)];
  const tag = letters.map((byte) => String.fromCharCode(65 + (byte % 26))).join('');
  return { name: `${tag}+LiberationSans`, file, lines: glyphs, widths, characters };
};
