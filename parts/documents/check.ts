/** Whether a file is a document that people can sign. */

export type Checked =
  | { readonly ok: true; readonly pages: number; readonly title?: string | undefined }
  | { readonly ok: false; readonly error: string };

/** PDF readers find it within the first 1024 bytes (ISO 32000-2, 7.5.2, and all readers). */
const headerWithin = 1024;

export const checkDocument = async (bytes: Uint8Array): Promise<Checked> => {
  const head = Buffer.from(bytes.subarray(0, headerWithin)).toString('latin1');
  return head.includes('%PDF-')
    ? { ok: true, pages: 0 }
    : { ok: false, error: 'The file is not a PDF' };
};
