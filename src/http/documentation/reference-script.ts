/**
 * Scalar's script, served from our own address.
 *
 * `@scalar/api-reference` brings 284 packages, three with scripts that run at their installation.
 * The package of its Fastify plugin brings sixteen without one, and has the same script inside; the
 * build takes it from there (`scripts/reference-script.mjs`), and a service needs none of them. The
 * file is compressed: 1.4 MB in place of 4.9 MB.
 */
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

export const scriptName = 'reference.js';

/** Beside this file in a compiled program; the sources use the same one. */
const places = ['./', '../../../dist/src/http/documentation/'].map(
  (folder) => new URL(`${folder}${scriptName}.gz`, import.meta.url),
);

export interface ReferenceScript {
  /** Changes with the content. */
  readonly tag: string;
  readonly compressed: Uint8Array<ArrayBuffer>;
  /** The script without compression, for clients that do not accept gzip. */
  readonly plain: () => Uint8Array<ArrayBuffer>;
}

/** @throws When the program was not built. */
export const readReferenceScript = (): ReferenceScript => {
  const place = places.find((each) => existsSync(each));
  if (place === undefined)
    throw new Error(`${scriptName}.gz is missing: build the program with npm run build`);
  const compressed = new Uint8Array(readFileSync(place));
  let plain: Uint8Array<ArrayBuffer> | undefined;
  return {
    tag: hash('sha256', compressed, 'base64url').slice(0, 16),
    compressed,
    plain: () => {
      plain ??= new Uint8Array(gunzipSync(compressed));
      return plain;
    },
  };
};
