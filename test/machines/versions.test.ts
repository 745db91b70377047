/**
 * A chart that open instances follow is not changed: they would go on in a chart that they did not
 * begin in.
 *
 * versions.json has the hash of each version of each chart. Where this fails and the last release
 * has the version, leave its chart as it is, in a file of its own that workers still get, make the
 * change in a new version, and add its line. A version that no release has gets the new hash in its
 * line. Releases are tags of the repository, so a line of a release cannot be rewritten.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readSources } from '../support/imports.ts';

type Versions = Readonly<Record<string, string>>;

const root = join(import.meta.dirname, '../..');
const list = 'test/machines/versions.json';

const importBeside = /import(?:type)?\{[^}]*\}from'\.\/([\w.-]+)';/g;

/** As Biome sorts them: a dot comes before a dash. */
const placeOf = (statement: string): string =>
  statement.replace(importBeside, '$1').replaceAll('.', ' ');

/**
 * The program without its comments and its layout. A chart of a part names the charts of the core
 * as if they lay beside it, and other modules by their names alone, so that it keeps its hash
 * wherever it and they lie.
 */
const programIn = (text: string): string => {
  const program = text
    .replaceAll(/\/\*.*?\*\/|\s+\/\/[^\n]*|\s+/gs, '')
    .replaceAll(/from'(?:\.\.\/)+machines\//g, "from'./")
    .replaceAll(/from'(?:\.\.\/)+(?:[\w-]+\/)*/g, "from'../");
  const sorted = (program.match(importBeside) ?? []).toSorted((one, other) =>
    placeOf(one) < placeOf(other) ? -1 : Number(placeOf(one) > placeOf(other)),
  );
  return program.replaceAll(importBeside, () => sorted.shift() ?? '');
};

const isChart = (name: string): boolean => name.endsWith('.machine.ts');

/**
 * The program of a chart first, then those of the files beside it that it uses. Other charts count
 * for themselves.
 */
const programsOf = (folder: string, name: string, known = new Set<string>()): readonly string[] => {
  if (known.has(name)) return [];
  known.add(name);
  const program = programIn(readFileSync(join(folder, name), 'utf8'));
  const used = [...program.matchAll(/import\{[^}]*\}from'\.\/([\w.-]+)'/g)].map(
    ([, file = '']) => file,
  );
  return [
    program,
    ...used.filter((file) => !isChart(file)).flatMap((file) => programsOf(folder, file, known)),
  ];
};

const versionsIn = (folder: string): Versions => {
  const found = readdirSync(folder)
    .filter(isChart)
    .map((name) => {
      const programs = programsOf(folder, name);
      const version = /Version=(\d+);/.exec(programs[0] ?? '')?.[1] ?? 1;
      const hash = createHash('sha256').update(programs.join('')).digest('hex').slice(0, 16);
      return [`${name}, version ${version}`, hash];
    });
  return Object.fromEntries(found);
};

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', folder, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** Lines of the list that a release has in another form than the list has now. */
const rewrittenIn = (folder: string): readonly string[] => {
  const now: Versions = JSON.parse(readFileSync(join(folder, list), 'utf8'));
  return git(folder, 'tag', '--list', 'v*')
    .split('\n')
    .filter((tag) => tag !== '' && git(folder, 'ls-tree', tag, list) !== '')
    .flatMap((tag) => {
      const released: Versions = JSON.parse(git(folder, 'show', `${tag}:${list}`));
      return Object.keys(released)
        .filter((line) => released[line] !== now[line])
        .map((line) => `${tag}: ${line}`);
    });
};

it('charts are those that their versions name', () => {
  const listed: Versions = JSON.parse(readFileSync(join(root, list), 'utf8'));
  const charts = readSources().flatMap(([path]) => (isChart(path) ? [path] : []));
  // Each by a name of its own: the list has no folders.
  expect(new Set(charts.map((path) => basename(path))).size).toBe(charts.length);
  const folders = new Set(charts.map((path) => dirname(path)));
  expect(listed).toEqual(
    Object.assign({}, ...[...folders].map((folder) => versionsIn(join(root, folder)))),
  );
});

it('a version that a release has stays as it is', () => {
  expect(rewrittenIn(root)).toEqual([]);
});

it('a line of a release that is rewritten or taken away is found, also where the chart fits it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paraph-versions-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (versions: Versions): void =>
    writeFileSync(join(folder, list), `${JSON.stringify(versions, null, 2)}\n`);
  mkdirSync(join(folder, 'test/machines'), { recursive: true });
  cpSync(join(root, 'machines'), join(folder, 'machines'), { recursive: true });
  const first = versionsIn(join(folder, 'machines'));
  write(first);
  const person = [
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@example.ch',
    '-c',
    'commit.gpgsign=false',
  ];
  git(folder, 'init', '-q');
  git(folder, 'add', '.');
  git(folder, ...person, 'commit', '-q', '-m', 'A release');
  git(folder, ...person, '-c', 'tag.gpgsign=false', 'tag', '-m', 'A release', 'v0.2.0');
  expect(rewrittenIn(folder)).toEqual([]);

  const chart = join(folder, 'machines/receipt.machine.ts');
  const changed = readFileSync(chart, 'utf8').replace('pause: 1000', 'pause: 2000');
  writeFileSync(chart, changed);
  write(versionsIn(join(folder, 'machines')));
  expect(rewrittenIn(folder)).toEqual(['v0.2.0: receipt.machine.ts, version 1']);

  writeFileSync(chart, changed.replace('Version = 1;', 'Version = 2;'));
  const second = versionsIn(join(folder, 'machines'));
  write(second);
  expect(rewrittenIn(folder)).toEqual(['v0.2.0: receipt.machine.ts, version 1']);
  write({ ...first, ...second });
  expect(rewrittenIn(folder)).toEqual([]);

  const beside = join(folder, 'machines/beside.ts');
  writeFileSync(join(folder, 'machines/planted.machine.ts'), "import { a } from './beside.ts';\n");
  const hashWith = (text: string): string | undefined => {
    writeFileSync(beside, text);
    return versionsIn(join(folder, 'machines'))['planted.machine.ts, version 1'];
  };
  expect(hashWith('export const a = 1;\n')).not.toBe(hashWith('export const a = 2;\n'));
});

it('a chart has the same hash in a part as beside the charts of the core', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paraph-versions-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const hashWith = (text: string): string | undefined => {
    writeFileSync(join(folder, 'planted.machine.ts'), text);
    return versionsIn(folder)['planted.machine.ts, version 1'];
  };
  const beside = [
    "import { a } from './a.ts';",
    "import { b } from './signature.machine.ts';",
    "import { c } from './z.ts';",
  ];
  const [a, b, c] = beside;
  const moved = b?.replace('./', '../../../machines/');
  for (const file of ['a.ts', 'z.ts']) writeFileSync(join(folder, file), '');
  expect(hashWith([moved, a, c].join('\n'))).toBe(hashWith(beside.join('\n')));
});
