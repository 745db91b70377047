/**
 * What a document must not have: programs, and orders to the reader's computer.
 *
 * Kept, because it does nothing by itself or only shows something: links (URI, GoTo, GoToR,
 * Named), forms, layers, media, attachments.
 */
import { isArray, isDict, isStream, nameOf, type PdfValue } from './values.ts';

const sentences: Readonly<Record<string, string>> = {
  JavaScript: 'The file has JavaScript. Remove it, for example by printing to a new PDF.',
  Launch: 'The file has an action that starts programs. Remove it, and try again.',
  ImportData:
    'The file has an action that brings in data of another file. Remove it, and try again.',
};

/** @returns Why an object is refused, looking at all that stands directly in it. */
export const findForbidden = (value: PdfValue | undefined): string | undefined => {
  if (isArray(value)) {
    for (const each of value) {
      const found = findForbidden(each);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const entries = isStream(value) ? value.dict : value;
  if (!isDict(entries)) return undefined;
  const action = nameOf(entries.get('S'));
  if (action !== undefined && Object.hasOwn(sentences, action)) return sentences[action];
  if (entries.has('JS') || entries.has('JavaScript')) return sentences.JavaScript;
  if (entries.has('XFA'))
    return 'The file is an XFA form, which shows something else than its pages. Save it as an ordinary PDF.';
  for (const each of entries.values()) {
    const found = findForbidden(each);
    if (found !== undefined) return found;
  }
  return undefined;
};
