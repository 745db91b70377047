/** The Markdown pages of this project and the blocks of code in them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

const markdownIn = (folder: string, recursive: boolean): readonly string[] =>
  readdirSync(join(root, folder), { recursive, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

/** Paths below the root: `README.md`, `docs/login.md` … */
export const pagePaths: readonly string[] = [
  ...markdownIn('.', false),
  ...['docs', 'examples', 'ops'].flatMap((folder) => markdownIn(folder, true)),
];

export const readPage = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The blocks of a language, also those within lists, without what they are indented by. */
export const blocksOf = (page: string, language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^( *)\`\`\`${language}\n(.*?)^\\1\`\`\``, 'gms'))].map(
    ([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
