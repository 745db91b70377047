/** What a document says about itself: its title, and whether it claims to be PDF/A. */
import { catalogOf, type PdfDocument } from './document.ts';
import { decodeStream } from './filters.ts';
import { isStream, textOf } from './values.ts';

const maxMetadataBytes = 1 << 20;

/** The XMP metadata of the document as text; undefined when there is none. */
const metadataOf = (document: PdfDocument): string | undefined => {
  const stream = document.resolve(catalogOf(document).get('Metadata'));
  return isStream(stream)
    ? Buffer.from(decodeStream(stream, document.resolve, maxMetadataBytes)).toString('utf8')
    : undefined;
};

/** @returns Part and conformance, `1b`, as an attribute or an element of XMP may say them. */
export const pdfAOf = (document: PdfDocument): string | undefined => {
  const text = metadataOf(document) ?? '';
  const entryOf = (key: string): string =>
    new RegExp(`pdfaid:${key}\\s*(?:=\\s*["']|>)\\s*([1-4A-Ua-u])`).exec(text)?.[1] ?? '';
  const part = entryOf('part');
  return part === '' ? undefined : `${part}${entryOf('conformance').toLowerCase()}`;
};

/** The title in one line; undefined when there is none. */
export const titleOf = (document: PdfDocument): string | undefined => {
  const info = document.dictOf(document.trailer.get('Info'));
  const title = textOf(document.resolve(info?.get('Title')));
  // Control characters and marks of direction have no place in a line of text.
  const clean = title
    ?.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return clean === '' ? undefined : clean?.slice(0, 200);
};
