/**
 * The measured part of docs/performance.md, between `<!-- bench:accept -->` and `<!-- /bench -->`.
 *
 * The prose around the blocks is written by hand; every number that was measured comes from the
 * results.
 */
import { markdownRatios, markdownTable } from './report.ts';
import type { Results } from './results.ts';

const block = /(<!-- bench:([A-Za-z]+) -->\n)(?:.*?\n)??(<!-- \/bench -->)/gs;

const of = <T extends { readonly scenario: string }>(rows: readonly T[], name: string): T[] =>
  rows.filter(({ scenario }) => scenario === name);

const day = (when: string): string => when.slice(0, 10);

const machineText = ({ machine }: Results): string => {
  const { cores, processor, memoryGib, node, redis } = machine;
  return `${cores} cores (${processor}), ${memoryGib} GiB of memory, Node ${node}, Redis ${redis}; client, service and Redis on the same machine.`;
};

const scenarioText = (results: Results, name: string): string => {
  const run = results.runs[name];
  if (run === undefined) return `Not measured yet: \`npm run bench -- --only ${name}\`.`;
  const ratios = of(
    Object.entries(results.details).map(([ratio, detail]) => ({ name: ratio, ...detail })),
    name,
  );
  return [
    ...(ratios.length > 0 ? [markdownRatios(ratios)] : []),
    ...of(results.tables, name).map(markdownTable),
    ...of(results.plots, name).map(({ title, file }) => `![${title}](performance/${file}.svg)`),
    `Measured ${day(run.when)}${run.small ? ' by the two-minute run' : ''}: \`npm run bench -- --only ${name}${run.small ? ' --small' : ''}\`.`,
  ].join('\n\n');
};

/**
 * Fills every block of a document.
 *
 * @param results Undefined when nothing has been measured.
 * @throws When a block is not closed.
 */
export const fillBenchBlocks = (document: string, results: Results | undefined): string => {
  const opened = document.match(/<!-- bench:/g)?.length ?? 0;
  let filled = 0;
  const text = document.replaceAll(block, (_, open: string, name: string, close: string) => {
    filled += 1;
    if (results === undefined) return `${open}Not measured yet: \`npm run bench\`.\n${close}`;
    return `${open}${name === 'machine' ? machineText(results) : scenarioText(results, name)}\n${close}`;
  });
  if (filled !== opened) throw new Error('A block <!-- bench:… --> is not closed');
  return text;
};
