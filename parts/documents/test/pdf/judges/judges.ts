/**
 * Programs of others that judge signed PDFs: EU DSS (Maven Central), pyHanko (PyPI), pdfsig of
 * poppler and qpdf (Debian). Where a registry does not answer, its judge is left out, and the output
 * says so.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pem } from '../../../../../packages/pki/test/openssl.ts';
import { installIn } from '../../../../../test/interop/install.ts';

/** What a judge says of one signature. */
export interface Verdict {
  readonly path: string;
  readonly isGood: boolean;
  /** Of PAdES, as EU DSS calls it; `''` from the others. */
  readonly level: string;
  /** What it says, for the table and for failures. */
  readonly words: string;
}

export interface Judge {
  readonly name: string;
  /** @param own The names of the fields that are ours, where the judge knows names. */
  judge(paths: readonly string[], own: RegExp): readonly Verdict[];
}

const here = import.meta.dirname;

const run = (command: string, words: readonly string[]): string => {
  const { stdout, error } = spawnSync(command, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (error !== undefined) throw error;
  return stdout;
};

const isOnPath = (program: string): boolean =>
  spawnSync(program, ['--version'], { encoding: 'utf8' }).error === undefined;

const linesOf = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line.trim() !== '');

const dss = (libraries: string, root: string): Judge => ({
  name: 'EU DSS',
  judge: (paths) =>
    linesOf(
      run('java', [
        '-Xmx1500m',
        '-cp',
        `${libraries}/*`,
        join(here, 'DssJudge.java'),
        root,
        ...paths,
      ]),
    ).flatMap((line) => {
      const [path = '', signer = '', indication = '', sub = '', level = '', errors = ''] =
        line.split('\t');
      const isGood = indication === 'TOTAL_PASSED';
      const words = isGood ? `${indication} ${level}` : `${indication} ${sub} ${errors}`;
      // It tells no names of fields. The names of our signers begin so.
      return signer.startsWith('MIDCHE') ? [{ path, isGood, level, words }] : [];
    }),
});

const pyhanko = (python: string, root: string): Judge => ({
  name: 'pyHanko',
  judge: (paths, own) =>
    linesOf(run(python, ['-W', 'ignore', join(here, 'pyhanko_judge.py'), root, ...paths]))
      .map((line) => JSON.parse(line))
      .filter(({ field }) => field === undefined || own.test(field))
      .map(({ path, error, bottomLine, ...more }) => ({
        path,
        isGood: bottomLine === true,
        level: '',
        words: bottomLine === true ? 'valid' : (error ?? JSON.stringify(more)),
      })),
});

const pdfsig = (): Judge => ({
  name: 'pdfsig',
  judge: (paths, own) =>
    paths.flatMap((path) =>
      run('pdfsig', ['-nocert', path])
        .split(/^Signature #/m)
        .slice(1)
        .filter((part) => own.test(/Field Name: (.*)/.exec(part)?.[1] ?? ''))
        .map((part) => {
          const words = /Signature Validation: (.*)/.exec(part)?.[1] ?? 'no word';
          return { path, isGood: words === 'Signature is Valid.', level: '', words };
        }),
    ),
});

/** Its verdict is on the file: that it is sound. Warnings (3) are told of many originals, too. */
const qpdf = (): Judge => ({
  name: 'qpdf',
  judge: (paths) =>
    paths.map((path) => {
      const { status, stderr } = spawnSync('qpdf', ['--check', path], { encoding: 'utf8' });
      const words = status === 0 ? 'sound' : status === 3 ? 'warnings' : stderr.slice(0, 200);
      return { path, isGood: status === 0 || status === 3, level: '', words };
    }),
});

/** For each file: what of PDF/A veraPDF misses, by clause; undefined where it cannot be installed. */
export const openVeraPdf = (
  folder: string,
): ((paths: readonly string[]) => ReadonlyMap<string, string>) | undefined => {
  const libraries = join(folder, 'vera');
  const has = installIn(folder)('veraPDF (Maven Central)', [
    'mvn',
    '--batch-mode',
    '--quiet',
    `--file=${join(here, 'vera-pom.xml')}`,
    'dependency:copy-dependencies',
    `-DoutputDirectory=${libraries}`,
  ]);
  if (!has) return undefined;
  return (paths) => {
    const words = ['-Xmx1000m', '-cp', `${libraries}/*`, join(here, 'VeraJudge.java'), ...paths];
    return new Map(
      linesOf(run('java', words)).map((line) => {
        const [path = '', ...found] = line.split('\t');
        return [path, found.join(' ')];
      }),
    );
  };
};

/** @returns Those that could be installed. */
export const openJudges = (folder: string, roots: readonly Uint8Array[]): readonly Judge[] => {
  const install = installIn(folder);
  const root = join(folder, 'root.pem');
  writeFileSync(root, roots.map(pem).join(''));
  const python = join(folder, 'python/bin/python');
  const pip = ['-m', 'pip', 'install', '--quiet', '--retries=1', '--disable-pip-version-check'];
  const hasPyhanko = install(
    'pyHanko (PyPI)',
    ['python3', '-m', 'venv', join(folder, 'python')],
    [python, ...pip, 'pyhanko==0.38.0'],
  );
  const libraries = join(folder, 'dss');
  const hasDss = install('EU DSS (Maven Central)', [
    'mvn',
    '--batch-mode',
    '--quiet',
    `--file=${join(here, 'pom.xml')}`,
    'dependency:copy-dependencies',
    `-DoutputDirectory=${libraries}`,
  ]);
  const debian = { pdfsig: 'poppler-utils', qpdf: 'qpdf' } as const;
  const has = (program: keyof typeof debian): boolean =>
    isOnPath(program) ||
    install(`${program} (Debian)`, [
      'apt-get',
      'install',
      '-y',
      '-q',
      '--no-install-recommends',
      debian[program],
    ]);
  return [
    ...(hasDss ? [dss(libraries, root)] : []),
    ...(hasPyhanko ? [pyhanko(python, root)] : []),
    ...(has('pdfsig') ? [pdfsig()] : []),
    ...(has('qpdf') ? [qpdf()] : []),
  ];
};
