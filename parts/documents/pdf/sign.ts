/**
 * Adds a signature to a PDF in two steps, because the key is elsewhere: first an incremental update
 * with room for the CMS, then the CMS in that room.
 *
 * Source: ISO 32000-2 section 12.8.1, ETSI EN 319 142-1 section 5 and 6.
 */
import { createHash } from 'node:crypto';
import { type Appearance, addAppearance, addEmptyAppearance } from './appearance.ts';
import { catalogOf, openPdf, type PdfDocument } from './document.ts';
import { type Field, fieldsOf, formOf } from './fields.ts';
import { pdfAOf } from './metadata.ts';
import { type Page, pagesOf } from './pages.ts';
import { findLock } from './permissions.ts';
import { recordKey, writeRecord } from './record.ts';
import { orRefused, type Refused } from './refused.ts';
import { writeDict } from './serialize.ts';
import { createUpdate, setInCatalog, type Update, withEntries } from './update.ts';
import {
  dateString,
  dict,
  isArray,
  isRef,
  name,
  PdfError,
  type PdfRef,
  type PdfValue,
  textString,
} from './values.ts';

/** Room for a CMS with a chain of P-256 certificates and a time stamp; they need some 6 kB. */
const usualReservedBytes = 16_384;

export interface SignatureOrder {
  /** Of the field. An empty field of that name is used; otherwise one is made. */
  readonly fieldName: string;
  /** The time that the signature claims, in `/M`. */
  readonly at: Date;
  readonly reason?: string | undefined;
  readonly location?: string | undefined;
  /** Of the person who signs. */
  readonly name?: string | undefined;
  /** Where it is seen; invisible without. */
  readonly place?: Place | undefined;
  /** What is seen there, one line below the other; without them the name and the time. */
  readonly lines?: readonly string[] | undefined;
  /** Stands beside the signature, which covers it ({@link recordsIn}). */
  readonly record?: Uint8Array | undefined;
  /** For the CMS; 16 384 by default. */
  readonly reservedBytes?: number | undefined;
}

/** In points of 1/72 inch; x and y from the lower left corner of the page as it is shown. */
export interface Place {
  /** 1 is the first. */
  readonly page: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PreparedSignature {
  /** The whole file; where the CMS will stand there are zeros. */
  readonly bytes: Uint8Array;
  /** Of the byte range: everything except for the CMS. */
  digest(hashName: 'sha256'): Uint8Array;
  /**
   * Puts the CMS in its place, in `bytes` itself.
   *
   * @throws RangeError When it is larger than the room that was reserved.
   */
  embed(cms: Uint8Array): Uint8Array;
}

export type PreparedOrRefused = ({ readonly ok: true } & PreparedSignature) | Refused;

const rangeDigits = 10;
const rangeRoom = `[0 ${'0'.repeat(rangeDigits)} ${'0'.repeat(rangeDigits)} ${'0'.repeat(rangeDigits)}]`;

/** The signature dictionary, with zeros for what is known later. */
const writeSignature = (order: SignatureOrder, reservedBytes: number): Buffer => {
  const entries = dict({
    Type: name('Sig'),
    Filter: name('Adobe.PPKLite'),
    SubFilter: name('ETSI.CAdES.detached'),
    M: dateString(order.at),
    Name: order.name === undefined ? undefined : textString(order.name),
    Reason: order.reason === undefined ? undefined : textString(order.reason),
    Location: order.location === undefined ? undefined : textString(order.location),
    [recordKey]: order.record && writeRecord(order.record),
  });
  const head = writeDict(entries).slice(0, -2);
  return Buffer.from(
    `${head}\n/ByteRange ${rangeRoom}\n/Contents <${'0'.repeat(reservedBytes * 2)}>>>`,
    'latin1',
  );
};

/** The page, and on it the annotation, whose list may be an object of its own. */
const addAnnotation = (update: Update, { reference, dict: entries }: Page, field: PdfRef): void => {
  const list = entries.get('Annots');
  const value = update.valueOf(list);
  const annotations = [...(isArray(value) ? value : []), field];
  if (isRef(list) && isArray(value)) update.set(list, annotations);
  else update.set(reference, withEntries(entries, { Annots: annotations }));
};

/** Signatures exist, and the file must only be appended to. */
const signatureFlags = 3;

const addToForm = (document: PdfDocument, update: Update, field: PdfRef | undefined): void => {
  const catalog = catalogOf(document);
  const form = formOf(document);
  const place = catalog.get('AcroForm');
  const list = form?.get('Fields');
  const fields = document.resolve(list);
  const flags = document.resolve(form?.get('SigFlags'));
  const own = isArray(fields) ? fields : [];
  const changed: Record<string, PdfValue> = {
    SigFlags: (typeof flags === 'number' ? flags : 0) | signatureFlags,
  };
  if (field !== undefined) {
    if (isRef(list) && isArray(fields)) update.set(list, [...own, field]);
    else changed.Fields = [...own, field];
  } else if (flags === signatureFlags) return;
  const next = withEntries(form ?? new Map(), changed);
  if (isRef(place) && form !== undefined) update.set(place, next);
  else setInCatalog(document, update, { AcroForm: next });
};

/** F of an annotation: Print and Locked. */
const annotationFlags = 132;

/** Uses an empty field that the document has. */
const fillField = (update: Update, field: Field, signature: PdfRef): void => {
  if (field.reference === undefined)
    throw new PdfError('The field for the signature cannot be filled: it is no object of its own.');
  if (field.dict.has('Lock'))
    throw new PdfError('The field for the signature asks to lock others, which is not supported.');
  update.set(field.reference, withEntries(field.dict, { V: signature }));
};

const findPage = (document: PdfDocument, number: number): Page => {
  let count = 0;
  for (const page of pagesOf(document)) {
    count += 1;
    if (count === number) return page;
  }
  throw new PdfError(`The document has no page ${number}; it has ${count}.`);
};

const makeField = (
  document: PdfDocument,
  update: Update,
  order: SignatureOrder,
  signature: PdfRef,
): PdfRef => {
  const page = findPage(document, order.place?.page ?? 1);
  const lines = order.lines ?? [order.name ?? '', order.at.toISOString()];
  const isPdfA1 = pdfAOf(document)?.startsWith('1') === true;
  const appearance: Appearance = order.place
    ? addAppearance(document, update, page, order.place, lines)
    : { rect: [0, 0, 0, 0], form: isPdfA1 ? addEmptyAppearance(update) : undefined };
  const field = update.add(
    dict({
      Type: name('Annot'),
      Subtype: name('Widget'),
      FT: name('Sig'),
      T: textString(order.fieldName),
      F: annotationFlags,
      P: page.reference,
      Rect: appearance.rect,
      V: signature,
      AP: appearance.form && dict({ N: appearance.form }),
    }),
  );
  addAnnotation(update, page, field);
  return field;
};

const prepare = (bytes: Uint8Array, order: SignatureOrder): PreparedSignature => {
  const reservedBytes = order.reservedBytes ?? usualReservedBytes;
  const document = openPdf(bytes);
  if (/^$|\./.test(order.fieldName)) throw new RangeError('a field name has no dots');
  const lock = findLock(document, order.fieldName);
  if (lock !== undefined) throw new PdfError(lock);
  const present = fieldsOf(document).filter((each) => each.name === order.fieldName);
  const [field] = present;
  if (present.length > 1 || (field && field.type !== 'Sig') || field?.dict.has('V'))
    throw new PdfError('The document already has a field of that name.');

  const update = createUpdate(document);
  const signature = update.reserve();
  const written = writeSignature(order, reservedBytes);
  update.setWritten(signature, written);
  if (field === undefined)
    addToForm(document, update, makeField(document, update, order, signature));
  else {
    fillField(update, field, signature);
    addToForm(document, update, undefined);
  }
  const { bytes: whole, offsetOf } = update.finish();

  const start = offsetOf(signature) + `${signature.number} ${signature.generation} obj\n`.length;
  const gapStart = start + written.lastIndexOf('/Contents <') + '/Contents '.length;
  const gapEnd = gapStart + reservedBytes * 2 + 2;
  const range = `[0 ${gapStart} ${gapEnd} ${whole.length - gapEnd}]`.padEnd(rangeRoom.length);
  whole.write(range, start + written.lastIndexOf(rangeRoom), 'latin1');
  return {
    bytes: whole,
    digest: (hashName) =>
      createHash(hashName)
        .update(whole.subarray(0, gapStart))
        .update(whole.subarray(gapEnd))
        .digest(),
    embed: (cms) => {
      if (cms.length > reservedBytes)
        throw new RangeError(`the CMS has ${cms.length} bytes, and ${reservedBytes} are reserved`);
      whole.write(Buffer.from(cms).toString('hex'), gapStart + 1, 'latin1');
      return whole;
    },
  };
};

/**
 * Appends an empty signature to a PDF.
 *
 * @param bytes What {@link checkPdf} has accepted, or an earlier result of this function, signed.
 * @returns The file with a hole for the CMS, or a sentence why the document must not be signed.
 */
export const prepareSignature = (
  bytes: Uint8Array,
  order: SignatureOrder,
): Promise<PreparedOrRefused> => orRefused(() => prepare(bytes, order));
