/** Walks the tree of pages (ISO 32000-2 section 7.7.3). */
import { catalogOf, type PdfDocument } from './document.ts';
import {
  isArray,
  isRef,
  nameOf,
  type PdfDict,
  PdfError,
  type PdfRef,
  type PdfValue,
} from './values.ts';

const maxPages = 2000;
const maxDepth = 50;

export interface Page {
  readonly reference: PdfRef;
  readonly dict: PdfDict;
  /** The entry of the page, or of the nearest node above it that has one (7.7.3.4). */
  inherited(key: 'MediaBox' | 'CropBox' | 'Rotate' | 'Resources'): PdfValue;
}

/**
 * All pages in their order.
 *
 * @throws PdfError When the tree is broken, or has more than 2 000 pages.
 */
export function* pagesOf(document: PdfDocument): Generator<Page> {
  const visited = new Set<number>();
  let count = 0;
  function* walk(node: PdfValue | undefined, above: readonly PdfDict[]): Generator<Page> {
    if (!isRef(node) || visited.has(node.number) || above.length > maxDepth)
      throw new PdfError('The file is broken: its pages cannot be found.');
    visited.add(node.number);
    const entries = document.dictOf(node);
    if (entries === undefined)
      throw new PdfError('The file is broken: one of its pages is missing.');
    const kids = document.resolve(entries.get('Kids'));
    const type = nameOf(document.resolve(entries.get('Type')));
    if (type === 'Pages' && isArray(kids)) {
      for (const kid of kids) yield* walk(kid, [entries, ...above]);
      return;
    }
    if (type !== 'Page') throw new PdfError('The file is broken: its pages cannot be found.');
    count += 1;
    if (count > maxPages)
      throw new PdfError(`The file has more than ${maxPages.toLocaleString('en')} pages.`);
    yield {
      reference: node,
      dict: entries,
      inherited: (key) => {
        const owner = [entries, ...above].find((each) => each.has(key));
        return document.resolve(owner?.get(key));
      },
    };
  }
  yield* walk(catalogOf(document).get('Pages'), []);
  if (count === 0) throw new PdfError('The file has no pages.');
}
