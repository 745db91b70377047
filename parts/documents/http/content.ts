/** The bytes of a document as an answer, whole or a range of it (RFC 9110 14). */
import type { Documents } from '../documents.ts';
import type { DocumentRecord } from '../records.ts';
import type { ByteRange } from '../store/store.ts';
import { dispositionOf } from './disposition.ts';

/**
 * @returns The range; `whole` without a header, and for one that may be ignored: of another unit or
 *   with several ranges (RFC 9110 14.2). `outside` where nothing of it is in the document.
 */
const readRange = (header: string | undefined, size: number): ByteRange | 'whole' | 'outside' => {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'outside' : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (start >= size) return 'outside';
  return end > start ? { start, end } : 'whole';
};

/** Nothing of it runs, is kept by a cache, or is shown within another page. */
const contentHeaders: Readonly<Record<string, string>> = {
  'accept-ranges': 'bytes',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'content-type': 'application/pdf',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * @param asked   The method, and the header Range. For HEAD nothing is opened: nobody would close it.
 * @param onError Takes what goes wrong when the answer has begun: then the connection breaks, so
 *   that nobody takes a part for the whole.
 * @returns Undefined for a range that is outside.
 * @throws StoreError when it has not begun.
 */
export const answerContent = async (
  documents: Pick<Documents, 'read'>,
  document: DocumentRecord,
  asked: { readonly method: string; readonly range: string | undefined },
  onError: (error: Error) => void,
): Promise<Response | undefined> => {
  const { size, title, sha256 } = document;
  const range = readRange(asked.range, size);
  if (range === 'outside') return undefined;
  const { start, end } = range === 'whole' ? { start: 0, end: size } : range;
  const headers = {
    ...contentHeaders,
    'content-disposition': dispositionOf('attachment', title),
    'content-length': String(end - start),
    etag: `"${sha256}"`,
    ...(range !== 'whole' && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
  };
  const status = range === 'whole' ? 200 : 206;
  if (asked.method === 'HEAD') return new Response(null, { status, headers });
  const bytes = await documents.read(document, { start, end });
  const parts = bytes[Symbol.asyncIterator]();
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await parts.next();
          if (done === true) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          onError(error instanceof Error ? error : new Error(String(error)));
          controller.error(error);
        }
      },
      cancel: async () => {
        await parts.return?.();
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(stream, { status, headers });
};
