/**
 * What a reader that repairs files finds and another one does not: readers that see a broken end of
 * a file look for objects by themselves, and take the last one of each number.
 */
import { places, readCrossReference } from './cross-reference.ts';
import type { PdfDocument } from './document.ts';
import { skipSpace } from './parse.ts';

/** A reader that finds no save at the end looks for objects by itself, and finds others. */
export const endsWithSave = ({ bytes }: PdfDocument): boolean =>
  /startxref\s+\d+\s+%%EOF\s*$/.test(Buffer.from(bytes.subarray(-256)).toString('latin1'));

/**
 * Objects that stand behind the signed revision under a number of it, and that no section names. A
 * reader that repairs the file takes them; nobody else writes them.
 */
export const findUnnamed = (
  before: PdfDocument,
  { bytes, references }: PdfDocument,
): readonly number[] => {
  const end = before.bytes.length;
  const named = new Set<number>();
  const note = (at: number): void => {
    if (at < end) return;
    const cursor = { bytes, at };
    skipSpace(cursor);
    named.add(cursor.at);
  };
  readCrossReference(bytes, note);
  for (const { at } of references.sections) note(at);
  const later = Buffer.from(bytes.subarray(end)).toString('latin1');
  return [...later.matchAll(/(?<!\d)(\d{1,10})\s{1,20}\d{1,5}\s{1,20}obj/g)].flatMap((found) => {
    const number = Number(found[1]);
    const isOfBefore = (before.references.kinds[number] ?? 0) >= places.inFile;
    return isOfBefore && !named.has(end + found.index) ? [number] : [];
  });
};
