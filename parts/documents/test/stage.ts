/** A product with documents, and how an application calls it. */
import { basic } from '../../../test/support/caller.ts';
import type { Json, TestProduct } from '../../../test/support/product.ts';

export const apId = 'mid://ap.example';

const fill = (length: number): string =>
  `<< /Length ${length} >>\nstream\n${'x'.repeat(length)}\nendstream`;

/** A PDF of these objects; the first is its catalogue. */
const buildPdf = (objects: readonly string[]): string => {
  let file = '%PDF-1.7\n';
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(file.length);
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`);
  const size = objects.length + 1;
  return `${file}xref\n0 ${size}\n0000000000 65535 f \n${rows.join('')}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
};

const objectsOf = (pages: readonly (readonly string[])[]): readonly string[] => {
  const font = '<< /Font << /F1 3 0 R >> >>';
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`);
  return [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((lines, index) => {
      const shown = lines.map((line) => `(${line}) Tj 0 -32 Td`).join(' ');
      const content = `BT /F1 22 Tf 72 740 Td ${shown} ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${5 + 2 * index} 0 R /Resources ${font} >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
};

const bytesOf = (file: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(file, 'latin1'));

/** A PDF whose pages have these lines. */
export const makePages = (pages: readonly (readonly string[])[]): Uint8Array<ArrayBuffer> =>
  bytesOf(buildPdf(objectsOf(pages)));

/** A PDF of one page that has this text, and filling up to a size. */
export const makePdf = (text: string, size = 0): Uint8Array<ArrayBuffer> => {
  const objects = objectsOf([[text]]);
  let file = buildPdf(objects);
  // Numbers in the file have more digits with more content: so it is made again until it fits.
  let length = size - file.length;
  for (let tries = 0; tries < 10 && file.length < size; tries += 1) {
    file = buildPdf([...objects, fill(length)]);
    length -= file.length - size;
    if (file.length > size) file = buildPdf(objects);
  }
  return bytesOf(file);
};

interface CallOptions {
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const documentCalls = (product: () => TestProduct) => {
  const call = async (
    method: string,
    path: string,
    { body, as = apId, headers = {} }: CallOptions = {},
  ): Promise<Response> =>
    product().api.fetch(
      new Request(`http://test/documents${path}`, {
        method,
        headers: {
          authorization: basic(as),
          ...(body !== undefined && { 'content-type': 'application/pdf' }),
          ...headers,
        },
        ...(body !== undefined && { body }),
      }),
    );
  const json = async (
    method: string,
    path: string,
    options?: CallOptions,
  ): Promise<{ readonly status: number; readonly body: Json }> => {
    const response = await call(method, path, options);
    return { status: response.status, body: await response.json() };
  };
  return {
    call,
    json,
    /** @returns The id. */
    add: async (bytes: Uint8Array<ArrayBuffer>, as?: string): Promise<string> => {
      const { status, body } = await json('POST', '?title=Lease', {
        body: bytes,
        ...(as !== undefined && { as }),
      });
      if (status !== 201) throw new Error(JSON.stringify(body));
      return body.id;
    },
  };
};
