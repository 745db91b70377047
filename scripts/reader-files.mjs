/**
 * Copies what the page for documents needs out of the package of pdf.js: the build for older
 * browsers, too, character maps, fonts and decoders, with their licences.
 */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** @param {string} packageFolder @param {string} target */
export function copyReaderFiles(packageFolder, target) {
  mkdirSync(target, { recursive: true });
  for (const name of ['pdf.min.mjs', 'pdf.worker.min.mjs'])
    cpSync(join(packageFolder, 'legacy', 'build', name), join(target, name));
  for (const name of ['cmaps', 'standard_fonts', 'wasm', 'iccs', 'LICENSE'])
    cpSync(join(packageFolder, name), join(target, name), { recursive: true });
}
