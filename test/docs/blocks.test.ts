/** What the blocks of the documents, and the links of the packages' READMEs, must hold. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configurationJsonSchema } from '../../src/app/configuration/json-schema.ts';
import { parseConfiguration } from '../../src/app/configuration/load.ts';
import { blocksOf, pagePaths, readPage, root } from './pages.ts';

const keys = new Set(Object.keys(configurationJsonSchema().properties ?? {}));

/** All examples of a configuration file: JSON whose members are keys of it. */
const configurations = pagePaths.flatMap((path) =>
  blocksOf(readPage(path), 'json')
    .filter((text) => {
      const members = Object.keys(JSON.parse(text) as object);
      return members.length > 0 && members.every((key) => keys.has(key));
    })
    .map((text, index) => [`${path}, ${index + 1}`, text] as const),
);

describe('the blocks of the documents', () => {
  it('has examples of the configuration file', () => {
    expect(configurations.length).toBeGreaterThan(10);
  });

  it.each(configurations)('%s is a configuration file that is taken', (_, text) => {
    const loaded = parseConfiguration(text);
    const problems = loaded.ok ? [] : loaded.problems;
    // Files that the reader has, and a section that needs one of the others.
    expect(problems.filter((problem) => !/cannot be read|no such file/.test(problem))).toEqual([]);
  });

  it('begin with npx where a newcomer has nothing else', () => {
    const ofNewcomers = pagePaths.filter((path) =>
      /^(README\.md|examples\/|docs\/(login|install|phone|workflow-tutorial|processes)\b)/.test(
        path,
      ),
    );
    expect(ofNewcomers.length).toBeGreaterThan(10);
    for (const path of ofNewcomers) {
      const lines = blocksOf(readPage(path), 'sh').flatMap((block) => block.split('\n'));
      const bare = lines.filter((line) => /^ *([A-Z_]+=\S+ )*paraph /.test(line));
      expect([path, ...bare]).toEqual([path]);
    }
  });
});

describe('the README of each package', () => {
  const folders = ['.', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)];
  const paths = folders.map((folder) => `./${folder}`);
  const packed = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', ...paths], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64_000_000,
    }),
  ) as readonly { readonly files: readonly { readonly path: string }[] }[];

  it.each(folders.map((folder, index) => [folder, index] as const))(
    '%s links to nothing, and shows nothing, that the package has not',
    (folder, index) => {
      const files = new Set(packed[index]?.files.map(({ path }) => path));
      expect(files.has('README.md')).toBe(true);
      const links = [...readPage(posix.join(folder, 'README.md')).matchAll(/\]\(([^)#]+)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^[a-z]+:/.test(link));
      for (const link of links) expect(existsSync(join(root, folder, link)), link).toBe(true);
      expect(links.filter((link) => !files.has(link))).toEqual([]);
    },
  );
});

describe('the page on proxies', () => {
  it('says of every path that is described whether it may stay inside', () => {
    const page = readPage('docs/operations/proxies.md');
    const [, section = ''] = /\n## Which paths may stay inside\n(.*?)\n## /s.exec(page) ?? [];
    const told = [...section.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
    );
    const { paths } = JSON.parse(readPage('docs/openapi.json')) as { readonly paths: object };
    const described = Object.keys(paths);
    expect(described.length).toBeGreaterThan(20);
    const pages = ['/', '/docs', '/demo', '/phone', '/tasks/x', '/admin', '/metrics', '/livez'];
    const isTold = (path: string): boolean =>
      told.some((each) => path === each || (each !== '/' && path.startsWith(each)));
    expect([...described, ...pages].filter((path) => !isTold(path))).toEqual([]);
  });
});
