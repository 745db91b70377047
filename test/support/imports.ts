/**
 * The sources of the product, and what each imports. Imports are found by patterns, because
 * TypeScript 7 has no stable interface to its parser.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

const root = join(import.meta.dirname, '../..');
/** `packages/queue` has a manifest alone. */
const packages = readdirSync(join(root, 'packages'))
  .map((name) => `packages/${name}/src`)
  .filter((path) => existsSync(join(root, path)));
const trees = [...packages, 'src', 'machines', 'workers', 'parts'];

/** Path from the root, with slashes, and text of each file. */
export const readSources = (): readonly (readonly [path: string, text: string])[] =>
  trees.flatMap((tree) =>
    readdirSync(join(root, tree), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.[cm]?[jt]sx?$/.test(path))
      .map((path) => `${tree}/${path.replaceAll(sep, '/')}`)
      // Parts carry their tests.
      .filter((path) => !/^parts\/[^/]+\/test\//.test(path))
      .map((path) => [path, readFileSync(join(root, path), 'utf8')] as const),
  );

/**
 * Static, type and dynamic imports; what `require` loads; undefined for a name that is not written
 * out.
 */
export const importsIn = (text: string): readonly (string | undefined)[] => [
  ...[...text.matchAll(/^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm)].map(
    ([, name]) => name,
  ),
  ...[...text.matchAll(/^\s*import\s*['"]([^'"]+)['"]/gm)].map(([, name]) => name),
  ...[
    ...text.matchAll(
      /\b(?:import|require|createRequire\([^)]*\))\s*\((?:\s*(['"`])([^'"`$]+)\1\s*[,)])?/g,
    ),
  ].map(([, , name]) => name),
];
