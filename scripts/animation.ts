/**
 * Puts pictures of a page into one file that moves: an APNG, because frames that the browser has
 * compressed need forty lines here and no encoder.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

export interface Frame {
  readonly png: Buffer;
  readonly seconds: number;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
};

/** The head of a PNG, and its pixels compressed as well as zlib can. */
const readPng = (png: Buffer): { head: Buffer; pixels: Buffer } => {
  const parts: Buffer[] = [];
  let head: Buffer = Buffer.alloc(0);
  for (let at = signature.length; at < png.length; ) {
    const end = at + 8 + png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    if (type === 'IHDR') head = png.subarray(at + 8, end);
    if (type === 'IDAT') parts.push(png.subarray(at + 8, end));
    at = end + 4;
  }
  return {
    head,
    pixels: deflateSync(inflateSync(Buffer.concat(parts)), { level: 9, memLevel: 9 }),
  };
};

/**
 * Puts PNGs of one size into one file; browsers without APNG show the first. Source: PNG 3, 11.3.6.
 */
export const animate = (frames: readonly Frame[]): Buffer => {
  const images = frames.map(({ png, seconds }) => ({ ...readPng(png), seconds }));
  const [first] = images;
  if (first === undefined || images.some(({ head }) => !head.equals(first.head))) {
    throw new Error('the frames differ in size');
  }
  let sequence = 0;
  const numbered = (data: Uint8Array): Buffer => {
    const framed = Buffer.alloc(4 + data.length);
    framed.writeUInt32BE(sequence++);
    framed.set(data, 4);
    return framed;
  };
  const control = Buffer.alloc(8);
  control.writeUInt32BE(images.length);
  const chunks = images.flatMap(({ pixels, seconds }, index) => {
    const shown = Buffer.alloc(22);
    first.head.copy(shown, 0, 0, 8);
    shown.writeUInt16BE(Math.round(seconds * 10), 16);
    shown.writeUInt16BE(10, 18);
    return [
      chunk('fcTL', numbered(shown)),
      index === 0 ? chunk('IDAT', pixels) : chunk('fdAT', numbered(pixels)),
    ];
  });
  return Buffer.concat([
    signature,
    chunk('IHDR', first.head),
    chunk('acTL', control),
    ...chunks,
    chunk('IEND', Buffer.alloc(0)),
  ]);
};
