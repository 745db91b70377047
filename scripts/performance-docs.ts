/**
 * Fills the measured blocks of docs/performance.md, and draws its plots, from
 * bench/results/latest.json. With `--check` it compares.
 */
import { fillBenchBlocks } from '../bench/harness/document.ts';
import { drawPlot } from '../bench/harness/plot.ts';
import { readResults } from '../bench/harness/results.ts';
import { type GeneratedFile, writeOrCheck } from './generated-file.ts';

const results = readResults('bench/results/latest.json');

const plots = (results?.plots ?? []).map(
  (plot): GeneratedFile => ({
    path: `docs/performance/${plot.file}.svg`,
    make: () => drawPlot(plot),
  }),
);

writeOrCheck(
  [
    { path: 'docs/performance.md', make: (document) => fillBenchBlocks(document, results) },
    ...plots,
  ],
  { check: process.argv.includes('--check'), remedy: '`npm run docs`' },
);
