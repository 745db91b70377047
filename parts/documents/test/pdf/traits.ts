/** What is odd about a PDF: the words of the table of public PDFs. */
import { catalogOf, openPdf, type PdfDocument } from '../../pdf/document.ts';
import { fieldsOf, signatureFieldsOf } from '../../pdf/fields.ts';
import { pdfAOf } from '../../pdf/metadata.ts';
import { type Page, pagesOf } from '../../pdf/pages.ts';
import { isArray } from '../../pdf/values.ts';

const usualVersions = ['1.3', '1.4', '1.5', '1.6', '1.7'];
/** Of one side, in points: A3 has 1 191. */
const hugeSide = 1300;

const structureOf = ({ references }: PdfDocument): readonly string[] => {
  const { sections, kinds } = references;
  return [
    sections.some(({ trailer }) => trailer.has('XRefStm'))
      ? 'hybrid'
      : sections[0].kind === 'stream'
        ? 'xref stream'
        : '',
    kinds.includes(3) ? 'object streams' : '',
    sections.length > 2 ? `saved ${sections.length} times` : '',
  ];
};

const pageTraits = (pages: readonly Page[]): readonly string[] => [
  pages.some((page) => ![0, null].includes(page.inherited('Rotate') as number | null))
    ? 'turned pages'
    : '',
  pages.some((page) => {
    const box = page.inherited('MediaBox');
    const sides = isArray(box) ? box.map(Number) : [];
    return Math.max(...sides, 0) > hugeSide;
  })
    ? 'huge pages'
    : '',
  pages.length > 50 ? `${pages.length} pages` : '',
];

/** @returns Less for a file that cannot be opened. */
export const traitsOf = (bytes: Uint8Array): readonly string[] => {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  const version = /%PDF-(\d\.\d)/.exec(head)?.[1];
  const simple = [
    version === undefined || usualVersions.includes(version) ? '' : `PDF ${version}`,
    head.includes('/Linearized') ? 'linearised' : '',
  ];
  try {
    const document = openPdf(bytes);
    const catalog = catalogOf(document);
    const names = document.dictOf(catalog.get('Names'));
    const signed = signatureFieldsOf(document).filter(({ dict }) => dict.has('V')).length;
    const isForm = fieldsOf(document).some(({ type }) => type !== undefined && type !== 'Sig');
    const pdfA = pdfAOf(document);
    return [
      ...simple,
      ...structureOf(document),
      pdfA === undefined ? '' : `PDF/A-${pdfA}`,
      signed > 0 ? `${signed} signature${signed > 1 ? 's' : ''}` : '',
      isForm ? 'form' : '',
      names?.has('EmbeddedFiles') ? 'attachments' : '',
      ...pageTraits([...pagesOf(document)]),
    ].filter((trait) => trait !== '');
  } catch {
    const isEncrypted = Buffer.from(bytes).includes('/Encrypt');
    return [...simple, isEncrypted ? 'encrypted' : 'damaged'].filter((trait) => trait !== '');
  }
};
