/**
 * Signed PDFs before judges of others, and seventy public PDFs of odd kinds: each ends signed and
 * valid, or refused with a sentence (docs/documents-table.md, which this test writes).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { root } from '../../../../test/docs/pages.ts';
import { attachEvidence, checkPdf, verifyPdf } from '../../pdf/index.ts';
import { openJudges, openVeraPdf, type Verdict } from './judges/judges.ts';
import { fetchPublicPdfs, type PublicPdf } from './judges/public-pdfs.ts';
import { kinds } from './samples.ts';
import { type Level, made, openStage } from './stage.ts';
import { traitsOf } from './traits.ts';

const folder = mkdtempSync(join(tmpdir(), 'paraph-judges-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

// A minute ago, so that no judge finds that it is still to come.
const stage = await openStage(Date.now() - 60_000);
const { ada, bob, roots, sign } = stage;
const judges = openJudges(folder, roots);
const publicPdfs = fetchPublicPdfs(folder);
const veraPdf = openVeraPdf(folder);
const own = /^Paraph \d$/;
const place = { page: 1, x: 1, y: 1, width: 12, height: 6 };

const signTwice = async (bytes: Uint8Array, level: Level): Promise<Uint8Array> => {
  const order = { fieldName: 'Paraph 1', place, lines: ['Zoë', 'Иван'], name: 'Zoë Ångström' };
  const once = await sign(bytes, ada, order, level);
  return sign(
    once,
    bob,
    { fieldName: 'Paraph 2', reason: 'Agreed', record: Buffer.from('{"a":1}') },
    level,
  );
};

const write = (name: string, bytes: Uint8Array): string => {
  const path = join(folder, `${name.replaceAll(/[^\w-]+/g, '-')}.pdf`);
  writeFileSync(path, bytes);
  return path;
};

describe.skipIf(judges.length === 0)('all kinds of PDFs, signed by an EC and an RSA key', () => {
  it.each(['B-B', 'B-T', 'B-LT'] as const)(
    'are accepted by every judge at level %s',
    async (level) => {
      const evidence = { name: 'evidence.json', bytes: Buffer.from('{"a":1}'), at: stage.at };
      const paths: string[] = [];
      for (const [kind, bytes] of Object.entries(kinds)) {
        const attached = made(await attachEvidence(bytes, evidence)).bytes;
        paths.push(write(`${level} ${kind}`, await signTwice(attached, level)));
      }
      for (const judge of judges) {
        const verdicts = judge.judge(paths, own);
        const perFile = judge.name === 'qpdf' ? 1 : 2;
        expect(verdicts, judge.name).toHaveLength(paths.length * perFile);
        for (const verdict of verdicts) {
          const where = `${judge.name} of ${basename(verdict.path)}: ${verdict.words}`;
          // Without revocation in the file EU DSS, which asks nobody here, cannot say PASSED.
          const isUndecided = /^INDETERMINATE (TRY_LATER|CERTIFICATE_CHAIN)/.test(verdict.words);
          const isOffline = judge.name === 'EU DSS' && level !== 'B-LT' && isUndecided;
          expect(verdict.isGood || isOffline, where).toBe(true);
          if (judge.name === 'EU DSS')
            expect(verdict.level, where).toBe(`PAdES-BASELINE-${level.slice(2)}`);
        }
      }
    },
    600_000,
  );
});

interface Row {
  readonly pdf: PublicPdf;
  readonly kind: string;
  readonly path?: string;
  readonly result: string;
}

const signOrRefuse = async (pdf: PublicPdf): Promise<Row> => {
  const kind = traitsOf(pdf.bytes).join(', ');
  const checked = await checkPdf(pdf.bytes);
  if (!checked.ok) return { pdf, kind, result: checked.error };
  const signed = await signTwice(pdf.bytes, 'B-LT').catch((error: Error) => error.message);
  if (typeof signed === 'string') return { pdf, kind, result: signed };
  const report = await verifyPdf(signed, { roots });
  const ours = report.signatures.filter(({ field }) => own.test(field));
  expect(ours, pdf.name).toMatchObject([
    { valid: true, level: 'B-LT', reasons: [] },
    { valid: true, level: 'B-LT', reasons: [] },
  ]);
  return { pdf, kind, path: write(`${pdf.project} ${pdf.name}`, signed), result: 'signed' };
};

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');

const tableOf = (rows: readonly Row[], verdicts: ReadonlyMap<string, readonly Verdict[]>) => {
  const names = judges.map(({ name }) => name);
  const lines = rows.map(({ pdf, kind, path, result }) => {
    const words = names.map((name) => {
      const mine = (verdicts.get(name) ?? []).filter((each) => each.path === path);
      const bad = mine.find(({ isGood }) => !isGood);
      return path === undefined ? '' : (bad?.words ?? mine[0]?.words ?? '');
    });
    return `| ${[pdf.project, pdf.name, kind, result, ...words].map(cell).join(' | ')} |`;
  });
  const signed = rows.filter(({ path }) => path !== undefined).length;
  return `# Public PDFs, signed or refused

Written by \`npm run interop\`: ${rows.length} files of the tests of other projects, as their source packages on PyPI bring them. ${signed} were signed twice (PAdES B-LT, by an EC and an RSA key, the first one visible), and every judge was asked about both signatures. ${rows.length - signed} were refused, each with the sentence that stands here. The column of qpdf says whether the file as a whole is sound; warnings are those of the original.

| from | file | what is odd | result | ${names.join(' | ')} |
| --- | --- | --- | --- | ${names.map(() => '---').join(' | ')} |
${lines.join('\n')}
`;
};

describe.skipIf(publicPdfs === undefined || judges.length === 0)('public PDFs of odd kinds', () => {
  it('each end signed and valid, or refused with a sentence', async () => {
    const rows: Row[] = [];
    for (const pdf of publicPdfs ?? []) rows.push(await signOrRefuse(pdf));
    expect(rows.length).toBeGreaterThanOrEqual(50);
    for (const { result } of rows) expect(result).toMatch(/^(signed|[A-Z].*\.)$/);
    const paths = rows.flatMap(({ path }) => path ?? []);
    const verdicts = new Map(judges.map((judge) => [judge.name, judge.judge(paths, own)]));
    if (judges.length === 4)
      writeFileSync(join(root, 'docs/documents-table.md'), tableOf(rows, verdicts));
    for (const [name, all] of verdicts)
      for (const path of paths) {
        const mine = all.filter((each) => each.path === path);
        const where = `${name} of ${basename(path)}: ${mine.map(({ words }) => words).join('; ')}`;
        expect(mine, where).toHaveLength(name === 'qpdf' ? 1 : 2);
        for (const { isGood, level } of mine) {
          expect(isGood, where).toBe(true);
          if (name === 'EU DSS') expect(level, where).toBe('PAdES-BASELINE-LT');
        }
      }
  }, 600_000);
});

describe.skipIf(publicPdfs === undefined || veraPdf === undefined)('PDF/A', () => {
  it('stays PDF/A when it is signed twice, and PDF/A-3 when it gets evidence', async () => {
    const evidence = { name: 'evidence.json', bytes: Buffer.from('{}'), at: stage.at };
    const pairs: { readonly before: string; readonly after: string }[] = [];
    for (const { name, bytes } of publicPdfs ?? []) {
      const pdfA = /PDF\/A-(\S\S)/.exec(traitsOf(bytes).join(' '))?.[1];
      if (pdfA === undefined) continue;
      const attached = await attachEvidence(bytes, evidence);
      expect(attached.ok, `${name} is PDF/A-${pdfA}`).toBe(pdfA.startsWith('3'));
      const signed = await signTwice(attached.ok ? attached.bytes : bytes, 'B-LT');
      pairs.push({
        before: write(`before ${name}`, bytes),
        after: write(`after ${name}`, signed),
      });
    }
    const found = veraPdf?.(pairs.flatMap(({ before, after }) => [before, after])) ?? new Map();
    const said = (path: string): string => found.get(path) ?? 'nothing';
    for (const { before, after } of pairs) expect(said(after), basename(after)).toBe(said(before));
    // Of each part one that holds, so that the comparison is not of failures alone.
    const holding = pairs.map(({ before }) => said(before)).filter((words) => / true /.test(words));
    expect(new Set(holding.map((words) => words[0]))).toEqual(new Set(['1', '2']));
  }, 600_000);
});
