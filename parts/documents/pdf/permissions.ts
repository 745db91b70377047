/**
 * What the signatures that are there allow: a certification (DocMDP), and locks of fields
 * (FieldMDP). A signature that is added against them would make the earlier one invalid.
 *
 * Source: ISO 32000-2 sections 12.8.2.2 to 12.8.2.4 and 12.7.5.5.
 */
import type { PdfDocument } from './document.ts';
import { type Field, signatureFieldsOf } from './fields.ts';
import { isArray, nameOf, type PdfDict, textOf } from './values.ts';

/** The transform parameters of a method among the references of a signature. */
const parametersOf = (
  document: PdfDocument,
  signature: PdfDict | undefined,
  method: string,
): PdfDict | undefined => {
  const references = document.resolve(signature?.get('Reference'));
  if (!isArray(references)) return undefined;
  const found = references
    .map((each) => document.dictOf(each))
    .find((each) => nameOf(document.resolve(each?.get('TransformMethod'))) === method);
  return found && (document.dictOf(found.get('TransformParams')) ?? new Map());
};

const namesIn = (document: PdfDocument, lock: PdfDict): readonly string[] => {
  const list = document.resolve(lock.get('Fields'));
  return isArray(list) ? list.flatMap((each) => textOf(document.resolve(each)) ?? []) : [];
};

/** Whether a lock covers a field of that name, which also covers all below it. */
const covers = (document: PdfDocument, lock: PdfDict, fieldName: string): boolean => {
  const action = nameOf(document.resolve(lock.get('Action')));
  const isNamed = namesIn(document, lock).some(
    (each) => fieldName === each || fieldName.startsWith(`${each}.`),
  );
  if (action === 'Include') return isNamed;
  if (action === 'Exclude') return !isNamed;
  return action === 'All';
};

const signatureOf = (document: PdfDocument, { dict }: Field): PdfDict | undefined =>
  document.dictOf(dict.get('V'));

/** 1: the signature is a certification that allows no changes; undefined when it is none. */
export const certificationLevelOf = (
  document: PdfDocument,
  signature: PdfDict | undefined,
): number | undefined => {
  const parameters = parametersOf(document, signature, 'DocMDP');
  const level = document.resolve(parameters?.get('P'));
  // 2 is the default (12.8.2.2.2).
  return parameters && (typeof level === 'number' ? level : 2);
};

/**
 * @param fieldName Of the signature that is to be added.
 * @returns Why the document must not get this signature; undefined when it may.
 */
export const findLock = (document: PdfDocument, fieldName: string): string | undefined => {
  for (const field of signatureFieldsOf(document)) {
    const signature = signatureOf(document, field);
    if (signature === undefined) continue;
    // A certification counts also where the catalog (Perms) does not name it.
    if (certificationLevelOf(document, signature) === 1)
      return 'The document is certified, and its author allows no changes, so no signature can be added.';
    const lock = parametersOf(document, signature, 'FieldMDP');
    if (lock !== undefined && covers(document, lock, fieldName))
      return 'An earlier signature of the document locks this field, so no signature can be added.';
    const p = document.resolve(document.dictOf(field.dict.get('Lock'))?.get('P'));
    if (p === 1)
      return 'An earlier signature of the document locks it, so no signature can be added.';
  }
  return undefined;
};
