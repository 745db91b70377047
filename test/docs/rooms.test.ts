/**
 * Every room has a README of half a page: what it is for, its public face, its keys in Redis, how
 * to change it, and the choices that concern it. DECISIONS.md has only those that concern the
 * whole.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsIn, readSources } from '../support/imports.ts';
import { readPage, root } from './pages.ts';

const foldersIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`);

const rooms = [...['src', 'packages', 'parts'].flatMap(foldersIn), 'machines', 'workers'];

const hasReadme = (room: string): boolean => existsSync(join(root, room, 'README.md'));
/** A folder of a room that is a layer of its own has one, too. */
const layers = foldersIn('src').flatMap(foldersIn);
const readmes = [...rooms, ...layers].filter(hasReadme);

/** What the README of a room of the service says, in this order; and of a part. */
const leads = ['**Public face.**', '**Keys in Redis.**', '**To change it.**'];
const leadsOfPart = [
  '**How it works.**',
  '**What it brings',
  '**Keys in Redis',
  '**To change it.**',
];
const isOfService = (room: string): boolean =>
  !room.startsWith('packages/') && !room.startsWith('parts/');

const linksIn = (page: string): readonly string[] =>
  [...page.matchAll(/\]\(([^)#]+)[^)]*\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));

/**
 * Files and folders of ours that a page names: `seal.ts`, `src/console/operators/settings.ts`, `par/`.
 * Patterns are left out.
 */
const pathsIn = (page: string): readonly string[] =>
  [...page.matchAll(/`([\w./-]+\/|[\w./-]+\.(?:[cm]?[jt]s|json|md))`/g)].map(
    ([, path = '']) => path,
  );

const fileNames = new Set(
  readmes.flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
      .filter((path) => !path.includes('node_modules'))
      .map((path) => `${room}/${path.replaceAll('\\', '/')}`),
  ),
);

/**
 * As readers look for it: in the room, in a folder of the room, or from the root of the project.
 */
const isFound = (room: string, path: string): boolean => {
  const bare = path.replace(/\/$/, '');
  return (
    existsSync(join(root, bare)) ||
    [...fileNames].some((name) => name.startsWith(`${room}/`) && name.endsWith(`/${bare}`))
  );
};

const roomOf = (path: string): string => {
  const folders = path.split('/');
  const layer = folders.slice(0, 3).join('/');
  if (layers.includes(layer) && hasReadme(layer)) return layer;
  return folders.slice(0, path.startsWith('src/') ? 2 : 1).join('/');
};

/** Files that another room imports. */
const imported: ReadonlySet<string> = new Set(
  readSources().flatMap(([path, text]) =>
    importsIn(text)
      .filter((name) => name?.startsWith('.') === true)
      .map((name = '') => posix.join(posix.dirname(path), name))
      .filter((file) => roomOf(file) !== roomOf(path)),
  ),
);

/** What the paragraph of the public face names: `seal.ts`, `token/`, `*.route.ts`. */
const facePatterns = (page: string): readonly RegExp[] => {
  const paragraph = page.split('\n').find((line) => line.startsWith('**Public face.**')) ?? '';
  return [...paragraph.matchAll(/`([^`]+)`/g)].map(([, name = '']) => {
    const pattern = name.replaceAll('.', '\\.').replaceAll('*', '[^/]*');
    return new RegExp(name.endsWith('/') ? `^${pattern}` : `^${pattern}$`);
  });
};

describe('the READMEs of rooms', () => {
  it('are there', () => {
    expect(rooms.filter((room) => !hasReadme(room))).toEqual([]);
  });

  it.each(readmes)('in %s names files that exist', (room) => {
    const page = readPage(`${room}/README.md`);
    expect(linksIn(page).filter((link) => !existsSync(join(root, room, link)))).toEqual([]);
    expect(pathsIn(page).filter((path) => !isFound(room, path))).toEqual([]);
  });

  it.each(readmes.filter((room) => !room.startsWith('packages/')))(
    'in %s says what a reader looks for',
    (room) => {
      const page = readPage(`${room}/README.md`);
      const places = (isOfService(room) ? leads : leadsOfPart).map((lead) => page.indexOf(lead));
      expect(places).not.toContain(-1);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect(page).toMatch(/^# .+\n\n[A-Z`]/);
    },
  );

  it.each(readmes.filter(isOfService))('in %s names every file that other rooms import', (room) => {
    const patterns = facePatterns(readPage(`${room}/README.md`));
    const files = [...imported]
      .filter((file) => roomOf(file) === room)
      .map((file) => file.slice(room.length + 1));
    expect(files.filter((file) => !patterns.some((pattern) => pattern.test(file)))).toEqual([]);
  });
});

describe('DECISIONS.md', () => {
  const page = readPage('DECISIONS.md');

  it('has at most 20 kB', () => {
    expect(statSync(join(root, 'DECISIONS.md')).size).toBeLessThanOrEqual(20_000);
  });

  it('names files that exist, from the root of the project', () => {
    const named = [...linksIn(page), ...pathsIn(page)];
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('is cited by no number, because its entries have none', () => {
    expect(page).not.toMatch(/^\*\*\d+\./m);
    const cited = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/performance.md'].filter(
      (path) => /DECISIONS(\.md\))?[ ,(]*\d/.test(readFileSync(join(root, path), 'utf8')),
    );
    expect(cited).toEqual([]);
  });
});
