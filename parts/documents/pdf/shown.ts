/** Which objects of a document have to do with what it shows. */
import { places } from './cross-reference.ts';
import type { PdfDocument } from './document.ts';
import { isDict, isRef } from './values.ts';
import { eachReference } from './walk.ts';

/** Entries of the catalog that lead to nothing that is shown. */
const unshownKeys: ReadonlySet<string> = new Set(['DSS', 'Metadata']);

/**
 * Whether a document leads to an object by what is shown. One that is the content of a page, too, is
 * not free to change, whatever else it is said to be.
 */
export const findShown = (document: PdfDocument): ((number: number) => boolean) => {
  const { kinds, size } = document.references;
  const root = document.trailer.get('Root');
  const shown = new Uint8Array(size);
  const waiting: number[] = [];
  const push = (number: number): void => {
    if (shown[number] !== 0 || (kinds[number] ?? 0) < places.inFile) return;
    shown[number] = 1;
    waiting.push(number);
  };
  eachReference(root, push);
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    const value = document.object(number);
    if (!isRef(root) || number !== root.number || !isDict(value)) eachReference(value, push);
    else for (const [key, each] of value) if (!unshownKeys.has(key)) eachReference(each, push);
  }
  return (number) => shown[number] === 1;
};
