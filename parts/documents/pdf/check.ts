/**
 * Decides whether a PDF may be signed: everything in it is read once, and nothing of it is kept.
 *
 * What a reader would have to guess is refused, and so is what does something (programs), hides
 * something (XFA, passwords) or costs too much to show (bombs, thousands of pages). Objects that
 * nothing refers to are looked at, too, because a later update can bring them to light.
 */

import { setImmediate } from 'node:timers/promises';
import { findForbidden } from './actions.ts';
import { places } from './cross-reference.ts';
import { openPdf, type PdfDocument } from './document.ts';
import { fieldsOf, signedFieldsOf } from './fields.ts';
import { decodeStream, filtersOf, measureInflated } from './filters.ts';
import { pdfAOf, titleOf } from './metadata.ts';
import { pagesOf } from './pages.ts';
import { orRefused, type Refused } from './refused.ts';
import { readMaterial } from './security-store.ts';
import { readSignedRevision } from './signed-revision.ts';
import { isStream, nameOf, PdfError, type PdfStream, type PdfValue } from './values.ts';
import { eachReference } from './walk.ts';

/** 50 MiB: more does not fit the memory of the phones that read it. */
const maxPdfBytes = 50 << 20;

/** All streams of a file together, unpacked. A page of 300 dpi in colour has 26 MB. */
const maxUnpackedBytes = 1 << 30;

export interface AboutPdf {
  readonly pages: number;
  readonly title?: string;
  /** Fields that are signed already. */
  readonly signatures: number;
  /** Part and conformance that the file claims, `2b`; undefined for one that is no PDF/A. */
  readonly pdfA?: string;
}

export type CheckedPdf = { readonly ok: true; readonly about: AboutPdf } | Refused;

/** After so many objects other work of the process has its turn: half a million take seconds. */
const objectsAtOnce = 500;

const unpackedBytes = async (
  stream: PdfStream,
  document: PdfDocument,
  maxBytes: number,
): Promise<number> => {
  const filters = filtersOf(stream.dict, document.resolve);
  const [first, ...more] = filters.filter((filter) => filter === 'FlateDecode');
  if (first === undefined || filters[0] !== 'FlateDecode') return stream.raw.length;
  if (more.length > 1)
    throw new PdfError('The file unpacks in more steps than are allowed (a decompression bomb).');
  if (more.length === 0) return measureInflated(stream.raw, maxBytes);
  const once: PdfStream = {
    ...stream,
    dict: new Map().set('Filter', { kind: 'name', name: 'FlateDecode' }),
  };
  return measureInflated(decodeStream(once, document.resolve, 16 << 20), maxBytes);
};

/**
 * Reads all objects, first those that the document reaches, then the others.
 *
 * @throws PdfError For what is forbidden anywhere, and for what is broken where it is reached.
 */
const checkObjects = async (document: PdfDocument): Promise<void> => {
  const { kinds, where, size } = document.references;
  const visited = new Uint8Array(size);
  const waiting: number[] = [];
  let left = maxUnpackedBytes;
  const push = (number: number): void => {
    if (visited[number] !== 0 || kinds[number] === undefined || kinds[number] < places.inFile)
      return;
    visited[number] = 1;
    waiting.push(number);
  };
  const look = async (value: PdfValue): Promise<void> => {
    const why = findForbidden(value);
    if (why !== undefined) throw new PdfError(why);
    eachReference(value, push);
    if (!isStream(value)) return;
    const file = value.dict.get('F');
    if (file !== undefined && nameOf(file) === undefined)
      throw new PdfError('The file shows data of another file, which nobody could sign with it.');
    left -= await unpackedBytes(value, document, left);
    if (left < 0)
      throw new PdfError('The file unpacks to more than is allowed (a decompression bomb).');
  };
  const visit = async (number: number): Promise<void> => {
    if (kinds[number] !== places.inStream) return look(document.object(number));
    const container = where[number] ?? 0;
    // Reads the object in its place, too, so that a wrong index is found.
    document.object(number);
    if (visited[container] === 2) return;
    visited[container] = 2;
    for (const each of document.contained(container)) {
      // One that was replaced later is still read, but it has no number any more.
      if (kinds[each.number] === places.inStream && where[each.number] === container)
        visited[each.number] = 1;
      await look(each.value);
    }
  };
  for (const key of ['Root', 'Info', 'ID']) eachReference(document.trailer.get(key), push);
  let looked = 0;
  const rest = async (): Promise<void> => {
    looked += 1;
    if (looked % objectsAtOnce === 0) await setImmediate();
  };
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    await visit(number);
    await rest();
  }
  for (let number = 0; number < size; number += 1) {
    if (visited[number] !== 0 || (kinds[number] ?? 0) < places.inFile) continue;
    await rest();
    visited[number] = 1;
    try {
      const value = document.object(number);
      const why = findForbidden(value);
      if (why !== undefined) throw new PdfError(why);
    } catch (error) {
      // What nothing refers to may be broken; it may not be forbidden.
      if (!(error instanceof PdfError) || !error.message.startsWith('The file is broken'))
        throw error;
    }
  }
};

/**
 * Checks names of fields, and that earlier signatures cover what they say. Whether they are valid is
 * another question: a document may be signed by people whose roots are not known here.
 *
 * @returns The number of fields that are signed.
 * @throws PdfError
 */
const checkForm = (document: PdfDocument): number => {
  const fields = fieldsOf(document);
  const names = fields.filter(({ dict }) => dict.has('T')).map(({ name }) => name);
  if (new Set(names).size < names.length)
    throw new PdfError('The form of the file has two fields of one name.');
  const signed = signedFieldsOf(document);
  for (const field of signed) {
    try {
      readSignedRevision(document, field);
    } catch (error) {
      if (!(error instanceof PdfError)) throw error;
      throw new PdfError(`An earlier signature of the file is broken. ${error.message}`);
    }
  }
  return signed.length;
};

/** @throws PdfError */
const read = async (bytes: Uint8Array): Promise<AboutPdf> => {
  if (bytes.length > maxPdfBytes) throw new PdfError('The file is larger than 50 MB.');
  const document = openPdf(bytes);
  let pages = 0;
  for (const _ of pagesOf(document)) pages += 1;
  await checkObjects(document);
  // Signing reads the security store, too.
  readMaterial(document);
  const title = titleOf(document);
  const pdfA = pdfAOf(document);
  const signatures = checkForm(document);
  return {
    pages,
    signatures,
    ...(title === undefined ? {} : { title }),
    ...(pdfA === undefined ? {} : { pdfA }),
  };
};

/** @returns What is known of a PDF that can be signed, or a sentence why it is refused. */
export const checkPdf = (bytes: Uint8Array): Promise<CheckedPdf> =>
  orRefused(async () => ({ about: await read(bytes) }));
