/** Reads the form of a document, and of its fields those for signatures (ISO 32000-2 12.7). */
import { catalogOf, type PdfDocument } from './document.ts';
import {
  isArray,
  isRef,
  nameOf,
  type PdfDict,
  PdfError,
  type PdfRef,
  type PdfValue,
  textOf,
} from './values.ts';

const maxFields = 20_000;
const maxDepth = 30;

export interface Field {
  /** Partial names from the root to this field, with dots between them. */
  readonly name: string;
  readonly type: string | undefined;
  readonly dict: PdfDict;
  /** Undefined for a field that stands directly in its parent. */
  readonly reference: PdfRef | undefined;
}

export const formOf = (document: PdfDocument): PdfDict | undefined =>
  document.dictOf(catalogOf(document).get('AcroForm'));

/** The fields without further fields below them. @throws PdfError */
export const fieldsOf = (document: PdfDocument): readonly Field[] => {
  const found: Field[] = [];
  const visited = new Set<number>();
  const walk = (
    value: PdfValue,
    above: { readonly name: string; readonly type: string | undefined; readonly depth: number },
  ): void => {
    const reference = isRef(value) ? value : undefined;
    if (reference !== undefined) {
      if (visited.has(reference.number))
        throw new PdfError('The file is broken: its form goes round in a circle.');
      visited.add(reference.number);
    }
    const entries = document.dictOf(value);
    if (entries === undefined)
      throw new PdfError('The file is broken: its form has a field that is missing.');
    if (found.length > maxFields || above.depth > maxDepth)
      throw new PdfError('The form of the file has more fields than are allowed.');
    const own = textOf(document.resolve(entries.get('T')));
    const name = own === undefined ? above.name : above.name === '' ? own : `${above.name}.${own}`;
    const type = nameOf(document.resolve(entries.get('FT'))) ?? above.type;
    const kids = document.resolve(entries.get('Kids'));
    // Kids without names are the places of one field, not fields.
    const further = isArray(kids)
      ? kids.filter((kid) => document.dictOf(kid)?.has('T') === true)
      : [];
    if (further.length === 0) {
      found.push({ name, type, dict: entries, reference });
      return;
    }
    for (const kid of further) walk(kid, { name, type, depth: above.depth + 1 });
  };
  const list = document.resolve(formOf(document)?.get('Fields'));
  if (isArray(list)) for (const each of list) walk(each, { name: '', type: undefined, depth: 0 });
  return found;
};

/** Fields for signatures, signed or not. @throws PdfError */
export const signatureFieldsOf = (document: PdfDocument): readonly Field[] =>
  fieldsOf(document).filter(({ type }) => type === 'Sig');

/** Each of them is compared with the whole file. */
const maxSignatures = 100;

/** Fields that are signed. @throws PdfError Also when there are more than 100. */
export const signedFieldsOf = (document: PdfDocument): readonly Field[] => {
  const signed = signatureFieldsOf(document).filter(
    ({ dict }) => document.resolve(dict.get('V')) !== null,
  );
  if (signed.length > maxSignatures)
    throw new PdfError('The file has more signatures than are allowed.');
  return signed;
};
