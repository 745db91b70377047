/**
 * Embeds a file in a PDF, as an associated file of the document (ISO 32000-2 14.13), which is what
 * PDF/A-3 demands.
 *
 * It is done before the first signature. Afterwards it would be a change that no earlier signature
 * covers: pyHanko then calls those signatures modified, and {@link verifyPdf} tells it as a change.
 * PDF/A-1 forbids attachments, PDF/A-2 and -4 allow only PDF/A ones: such a document is refused
 * here, and keeps its evidence beside it.
 *
 * Source: ISO 32000-2 sections 7.7.4, 7.11.4 and 14.13; ISO 19005-3 6.8.
 */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { catalogOf, openPdf, type PdfDocument } from './document.ts';
import { signedFieldsOf } from './fields.ts';
import { pdfAOf } from './metadata.ts';
import { type ChangedPdf, orRefused } from './refused.ts';
import { createUpdate, setInCatalog, withEntries } from './update.ts';
import {
  byteString,
  dateString,
  dict,
  isArray,
  isRef,
  isString,
  name,
  PdfError,
  type PdfString,
  type PdfValue,
  textString,
} from './values.ts';

export interface Attachment {
  /** Of the file, without folders. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly at: Date;
  /** `application/json` by default. */
  readonly mediaType?: string | undefined;
  readonly description?: string | undefined;
}

const maxAttachments = 10_000;
const maxDepth = 20;

type Entry = readonly [key: PdfString, value: PdfValue];

/** All entries of a name tree (7.9.6). */
const entriesOf = (document: PdfDocument, root: PdfValue | undefined): readonly Entry[] => {
  const found: Entry[] = [];
  const walk = (node: PdfValue | undefined, depth: number): void => {
    const entries = document.dictOf(node);
    const names = document.resolve(entries?.get('Names'));
    const kids = document.resolve(entries?.get('Kids'));
    if (depth > maxDepth || found.length > maxAttachments)
      throw new PdfError('The document has more attachments than are allowed.');
    if (isArray(names))
      for (let index = 0; index + 1 < names.length; index += 2) {
        const key = document.resolve(names[index]);
        if (isString(key)) found.push([key, names[index + 1] ?? null]);
      }
    if (isArray(kids)) for (const kid of kids) walk(kid, depth + 1);
  };
  walk(root, 0);
  return found;
};

/** What PDF/A says about an attachment of any kind. */
const isAllowedIn = (pdfA: string | undefined): boolean =>
  pdfA === undefined || pdfA.startsWith('3') || pdfA === '4f' || pdfA === '4e';

const attach = (bytes: Uint8Array, attachment: Attachment): Uint8Array => {
  const document = openPdf(bytes);
  const pdfA = pdfAOf(document);
  if (!isAllowedIn(pdfA))
    throw new PdfError(`The document is PDF/A-${pdfA}, which allows no attachment of this kind.`);
  if (signedFieldsOf(document).length > 0)
    throw new PdfError('The document is signed already, so nothing can be attached to it.');
  const update = createUpdate(document);
  const { bytes: content } = attachment;
  const file = update.add({
    kind: 'stream',
    raw: deflateSync(content),
    dict: dict({
      Type: name('EmbeddedFile'),
      Subtype: name(attachment.mediaType ?? 'application/json'),
      Filter: name('FlateDecode'),
      Params: dict({
        Size: content.length,
        ModDate: dateString(attachment.at),
        CheckSum: byteString(createHash('md5').update(content).digest()),
      }),
    }),
  });
  const specification = update.add(
    dict({
      Type: name('Filespec'),
      F: textString(attachment.name),
      UF: textString(attachment.name),
      Desc: attachment.description === undefined ? undefined : textString(attachment.description),
      AFRelationship: name('Supplement'),
      EF: dict({ F: file, UF: file }),
    }),
  );
  const catalog = catalogOf(document);
  const names = document.dictOf(catalog.get('Names'));
  const present = entriesOf(document, names?.get('EmbeddedFiles'));
  const key = textString(attachment.name);
  if (present.some(([each]) => Buffer.compare(each.bytes, key.bytes) === 0))
    throw new PdfError('The document already has an attachment of that name.');
  const sorted = [...present, [key, specification] as const].toSorted(([one], [other]) =>
    Buffer.compare(one.bytes, other.bytes),
  );
  const tree = update.add(dict({ Names: sorted.flat() }));
  const nextNames = withEntries(names ?? new Map(), { EmbeddedFiles: tree });
  const place = catalog.get('Names');
  const associated = document.resolve(catalog.get('AF'));
  const files = { AF: [...(isArray(associated) ? associated : []), specification] };
  if (isRef(place) && names !== undefined) {
    update.set(place, nextNames);
    setInCatalog(document, update, files);
  } else setInCatalog(document, update, { ...files, Names: nextNames });
  return update.finish().bytes;
};

/** @returns The file with its attachment, or a sentence why the document must not get one. */
export const attachEvidence = (bytes: Uint8Array, attachment: Attachment): Promise<ChangedPdf> =>
  orRefused(() => ({ bytes: attach(bytes, attachment) }));
