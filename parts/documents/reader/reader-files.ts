/**
 * Files of the page on which documents are read: our script and style, and pdf.js with what it
 * fetches (its worker, fonts, character maps and decoders). All are served from here; no page of
 * this service loads anything from elsewhere.
 *
 * Their addresses have a hash of all of them, because they name each other relatively. The build
 * copies those of pdf.js beside ours; a program that is not compiled takes them from the package,
 * which is needed for nothing else: with its map files and canvas for Node it has 74 MB.
 */
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const own = new URL('../assets/', import.meta.url);
const copied = new URL('pdfjs/', own);

/** Where a file of pdf.js is in its package: the build for older browsers, too. */
const inPackage = (name: string): string => (name.endsWith('.mjs') ? `legacy/build/${name}` : name);

const fileOf = (name: string): URL => {
  if (!name.startsWith('pdfjs/')) return new URL(name, own);
  const path = name.slice('pdfjs/'.length);
  return existsSync(copied)
    ? new URL(path, copied)
    : new URL(inPackage(path), import.meta.resolve('pdfjs-dist/package.json'));
};

/** Everything that is served. Nothing else of the folders can be asked for. */
const known =
  /^(?:reader\.(?:js|css)|pdfjs\/(?:pdf(?:\.worker)?\.min\.mjs|cmaps\/[\w-]+\.bcmap|standard_fonts\/[\w-]+\.(?:pfb|ttf)|wasm\/[\w-]+\.(?:wasm|js)|iccs\/[\w-]+\.icc))$/;

const types: Readonly<Record<string, string>> = {
  css: 'text/css;charset=UTF-8',
  js: 'text/javascript;charset=UTF-8',
  mjs: 'text/javascript;charset=UTF-8',
  wasm: 'application/wasm',
};

/** Its decoders are WebAssembly, which the policy of a worker allows and that of pages does not. */
const workerPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

const compress = promisify(gzip);

interface ServedFile {
  readonly plain: Buffer<ArrayBuffer>;
  /** Undefined for what does not get smaller. */
  readonly packed: Buffer<ArrayBuffer> | undefined;
}

const load = async (name: string): Promise<ServedFile | undefined> => {
  const plain = await readFile(fileOf(name)).catch(() => undefined);
  if (plain === undefined) return undefined;
  const isText = /\.(?:css|m?js|wasm)$/.test(name);
  return { plain, packed: isText ? await compress(plain) : undefined };
};

export const createReaderFiles = () => {
  /** Read at the first request: a service without documents reads none. */
  const files = new Map<string, Promise<ServedFile | undefined>>();
  let version: string | undefined;

  const versionNow = (): string => {
    const texts = ['reader.js', 'reader.css', 'pdfjs/pdf.min.mjs', 'pdfjs/pdf.worker.min.mjs'];
    version ??= hash(
      'sha256',
      Buffer.concat(texts.map((name) => readFileSync(fileOf(name)))),
      'base64url',
    ).slice(0, 12);
    return version;
  };

  return {
    /** `/documents/assets/…/reader.js` */
    addressOf: (name: 'reader.js' | 'reader.css'): string =>
      `/documents/assets/${versionNow()}/${name}`,

    /** @returns Undefined for a file that is none of these. */
    serve: async (
      asked: string,
      name: string,
      acceptEncoding: string | undefined,
    ): Promise<Response | undefined> => {
      if (!known.test(name)) return undefined;
      const loading = files.get(name) ?? load(name);
      files.set(name, loading);
      const file = await loading;
      if (file === undefined) {
        // Anybody may ask for any name, so those that do not exist are not kept.
        files.delete(name);
        return undefined;
      }
      const { plain, packed } = file;
      const isPacked = packed !== undefined && /\bgzip\b/.test(acceptEncoding ?? '');
      return new Response(isPacked ? packed : plain, {
        headers: {
          'content-type':
            types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
          'cache-control':
            asked === versionNow() ? 'public, max-age=31536000, immutable' : 'no-store',
          'content-security-policy': workerPolicy,
          'cross-origin-resource-policy': 'same-origin',
          'x-content-type-options': 'nosniff',
          vary: 'accept-encoding',
          ...(isPacked && { 'content-encoding': 'gzip' }),
        },
      });
    },
  };
};
