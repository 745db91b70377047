/**
 * The document security store (DSS): what a verifier needs later and could not get any more, the
 * certificates, OCSP answers and lists of revoked certificates. With it a signature that has a time
 * stamp is of level B-LT.
 *
 * It is added after the signature, as an incremental update that every signature allows, also a
 * certification without changes. Each signature has its entry in VRI, with what was given for it: EU
 * DSS takes a store for newer than a signature only when it differs from the one before.
 *
 * Source: ISO 32000-2 section 12.8.4.3, ETSI EN 319 142-1 section 5.4.
 */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { catalogOf, openPdf, type PdfDocument } from './document.ts';
import { type Field, signatureFieldsOf } from './fields.ts';
import { decodeStream } from './filters.ts';
import { type ChangedPdf, orRefused } from './refused.ts';
import { createUpdate, setInCatalog, withEntries } from './update.ts';
import {
  dict,
  isArray,
  isRef,
  isStream,
  isString,
  name,
  type PdfDict,
  PdfError,
  type PdfStream,
  type PdfValue,
} from './values.ts';

export interface ValidationMaterial {
  /** DER: chains of signers and of time stamps. */
  readonly certificates: readonly Uint8Array[];
  /** OCSP responses, DER. */
  readonly ocsps: readonly Uint8Array[];
  /** CRLs, DER. */
  readonly crls: readonly Uint8Array[];
}

const keys = { certificates: 'Certs', ocsps: 'OCSPs', crls: 'CRLs' } as const;
type Kind = keyof typeof keys;
const kinds = ['certificates', 'ocsps', 'crls'] as const satisfies readonly Kind[];

const maxMaterialBytes = 4 << 20;
const maxMaterials = 2000;
/** All of it, unpacked. */
const maxStoreBytes = 16 << 20;

const storeOf = (document: PdfDocument): PdfDict | undefined =>
  document.dictOf(catalogOf(document).get('DSS'));

const listOf = (document: PdfDocument, kind: Kind): readonly PdfValue[] => {
  const list = document.resolve(storeOf(document)?.get(keys[kind]));
  return isArray(list) ? list.slice(0, maxMaterials) : [];
};

interface Stored {
  readonly value: PdfValue;
  readonly bytes: Uint8Array;
}

/**
 * What the store of a document has.
 *
 * @throws PdfError When a part of it cannot be decoded, or it is too large as a whole: a list may
 *   name one stream a thousand times.
 */
export const readMaterial = (document: PdfDocument): Readonly<Record<Kind, readonly Stored[]>> => {
  let left = maxStoreBytes;
  const read = (kind: Kind): readonly Stored[] =>
    listOf(document, kind).flatMap((value) => {
      const stream = document.resolve(value);
      if (!isStream(stream)) return [];
      const bytes = decodeStream(stream, document.resolve, Math.min(left, maxMaterialBytes));
      left -= bytes.length;
      if (left <= 0)
        throw new PdfError('The security store of the file is larger than is allowed.');
      return [{ value, bytes }];
    });
  return { certificates: read('certificates'), ocsps: read('ocsps'), crls: read('crls') };
};

const streamOf = (bytes: Uint8Array): PdfStream => ({
  kind: 'stream',
  dict: dict({ Filter: name('FlateDecode') }),
  raw: deflateSync(bytes),
});

/** The key of a signature in VRI: SHA-1 of its CMS with all zeros behind it. */
const keyOf = (document: PdfDocument, { dict: field }: Field): string | undefined => {
  const contents = document.resolve(document.dictOf(field.get('V'))?.get('Contents'));
  return isString(contents)
    ? createHash('sha1').update(contents.bytes).digest('hex').toUpperCase()
    : undefined;
};

const add = (bytes: Uint8Array, material: ValidationMaterial): Uint8Array => {
  const document = openPdf(bytes);
  const present = readMaterial(document);
  const update = createUpdate(document);
  let isNew = false;
  /** Of each kind: what stands in the store, and of that what was given now. */
  const lists = kinds.map((kind) => {
    const known = present[kind].map((each) => ({ content: each.bytes, value: each.value }));
    const given = material[kind].map((content): PdfValue => {
      const found = known.find((each) => Buffer.compare(each.content, content) === 0);
      if (found !== undefined) return found.value;
      isNew = true;
      const value = update.add(streamOf(content));
      known.push({ content, value });
      return value;
    });
    return { kind, all: known.map(({ value }) => value), given };
  });
  const related = new Map(document.dictOf(storeOf(document)?.get('VRI')) ?? []);
  for (const field of signatureFieldsOf(document)) {
    const key = keyOf(document, field);
    if (key === undefined || related.has(key)) continue;
    isNew = true;
    const entries = lists.flatMap(({ kind, given }): [string, PdfValue][] =>
      given.length > 0 ? [[keys[kind].slice(0, -1), [...new Set(given)]]] : [],
    );
    related.set(key, update.add(new Map<string, PdfValue>([['Type', name('VRI')], ...entries])));
  }
  if (!isNew) return bytes;
  const entries: Record<string, PdfValue> = related.size > 0 ? { VRI: related } : {};
  for (const { kind, all } of lists) if (all.length > 0) entries[keys[kind]] = all;
  const store = withEntries(storeOf(document) ?? dict({ Type: name('DSS') }), entries);
  const place = catalogOf(document).get('DSS');
  if (isRef(place) && storeOf(document) !== undefined) update.set(place, store);
  else setInCatalog(document, update, { DSS: update.add(store) });
  return update.finish().bytes;
};

/**
 * Adds material to the security store, for all signatures that have none there yet. What the store
 * has already is not added again.
 *
 * @returns The file; the same bytes when there was nothing to add.
 */
export const addRevocation = (
  bytes: Uint8Array,
  material: ValidationMaterial,
): Promise<ChangedPdf> => orRefused(() => ({ bytes: add(bytes, material) }));
