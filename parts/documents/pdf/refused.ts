/** Results of functions that a document may refuse: a value, or a sentence for people. */
import { PdfError } from './values.ts';

export type Refused = { readonly ok: false; readonly error: string };
export type ChangedPdf = { readonly ok: true; readonly bytes: Uint8Array } | Refused;

/** Makes a PdfError of the work into the sentence that it has. */
export const orRefused = async <T extends object>(
  work: () => T | Promise<T>,
): Promise<({ readonly ok: true } & T) | Refused> => {
  try {
    return { ok: true, ...(await work()) };
  } catch (error) {
    if (error instanceof PdfError) return { ok: false, error: error.message };
    throw error;
  }
};
