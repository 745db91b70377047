/**
 * Files that are made from the sources: written, or with `--check` compared with what is there.
 *
 * `--check` says one sentence for each file that differs and ends with status 1.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface GeneratedFile {
  /** From the project's folder. */
  readonly path: string;
  /** @param present What is there now; empty when there is nothing. */
  readonly make: (present: string) => string;
}

const project = fileURLToPath(new URL('..', import.meta.url));

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
};

/** @param options.remedy The command that a reader of the sentence should run. */
export const writeOrCheck = (
  files: readonly GeneratedFile[],
  options: { readonly check: boolean; readonly remedy: string },
): void => {
  for (const { path, make } of files) {
    const present = read(project + path);
    const wanted = make(present);
    if (wanted === present) continue;
    if (options.check) {
      process.stderr.write(`${path} is not what the sources say: run ${options.remedy}.\n`);
      process.exitCode = 1;
    } else writeFileSync(project + path, wanted);
  }
};

const lineWidth = 110;

/** Lists of plain values stand on one line where they fit, as the formatter has it. */
const inline = (text: string): string =>
  text.replaceAll(
    /^( *)(.*)\[\n((?: *(?:"(?:[^"\\]|\\.)*"|[\d.-]+|true|false|null),?\n)+) *\](,?)$/gm,
    (whole, indent: string, before: string, elements: string, comma: string) => {
      const line = `${indent}${before}[${elements.trim().replaceAll(/\n */g, ' ')}]${comma}`;
      return line.length <= lineWidth ? line : whole;
    },
  );

/** JSON as a file to read and to compare. */
export const readableJson = (value: object): string =>
  `${inline(JSON.stringify(value, undefined, 2))}\n`;
