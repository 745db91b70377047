/** Files with charts of an operator that are not usable, and whose names clash. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { loadCharts } from '../../charts/load.ts';
import { createOwnCharts } from '../../open-workflows.ts';

const folder = mkdtempSync(join(tmpdir(), 'paraph-load-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const library = JSON.stringify(resolve(import.meta.dirname, '../../charts/index.ts'));
const xstate = JSON.stringify(import.meta.resolve('xstate'));
const chart = `setup({}).createMachine({ initial: 'open', states: { open: { on: { GO: 'done' } }, done: { type: 'final' } } })`;
const parent = `setup({ actors: { child: ${chart} } }).createMachine({ invoke: { src: 'child' } })`;

/** @param workflows By export: name and chart. */
const file = (
  name: string,
  workflows: ReadonlyArray<readonly [name: string, chart: string]>,
): string => {
  const exports = workflows.map(
    ([workflow, source], index) =>
      `export const w${index} = defineWorkflow({ name: '${workflow}', version: 1, chart: ${source} });`,
  );
  writeFileSync(
    join(folder, name),
    [
      `import { defineWorkflow } from ${library};`,
      `import { setup } from ${xstate};`,
      ...exports,
    ].join('\n'),
  );
  return name;
};

it.each([
  [
    'two exports',
    [
      ['a', chart],
      ['a', chart],
    ],
    'workflows[1]: a: there are two of version 1',
  ],
] as const)('names the place of a clash of %s', async (what, workflows, problem) => {
  const files = [
    file('fine.mjs', [['fine', parent]]),
    file(`${what.replaceAll(' ', '-')}.mjs`, workflows),
  ];
  expect(await loadCharts(files, folder)).toEqual({ ok: false, problems: [problem] });
});

it('are loaded once for a configuration, whichever part of a start asks', async () => {
  const charts = createOwnCharts([]);
  const settings = { workflows: [file('once.mjs', [['once', chart]])] };
  const loaded = await charts(settings, folder);
  expect(loaded).toMatchObject({ ok: true });
  expect(await charts(settings, folder)).toBe(loaded);
  expect(await charts(settings, undefined)).toEqual({ ok: true, value: [] });
  const others = { workflows: [...settings.workflows] };
  expect(await charts(others, folder)).not.toBe(loaded);
});

it('lets children have any name: order with a child line beside order-line', async () => {
  const lines = chart.replaceAll('child', 'line');
  const withLine = `setup({ actors: { line: ${lines} } }).createMachine({ invoke: { src: 'line' } })`;
  const both = file('both.mjs', [
    ['order', withLine],
    ['order-line', chart],
    ['process-signer', chart],
  ]);
  expect(await loadCharts([both], folder)).toMatchObject({ ok: true });
});

const noChart = 'a: chart must be a machine of XState, by setup(…).createMachine(…)';

it.each([
  ["name: 'a', version: 1", noChart],
  ["name: 'a', version: 1, chart: { initial: 'open', states: {} }", noChart],
  [
    `version: 1, chart: ${chart}`,
    'name: letters, digits, _ and single dashes between them, a letter first',
  ],
  [`name: 'a', chart: ${chart}`, 'a: version must be a whole number from 1'],
])('names what is wrong with defineWorkflow({ %s })', async (members, problem) => {
  const path = `wrong-${members.length}.mjs`;
  const lines = [`import { defineWorkflow } from ${library};`, `import { setup } from ${xstate};`];
  writeFileSync(
    join(folder, path),
    [...lines, `export default defineWorkflow({ ${members} });`].join('\n'),
  );
  expect(await loadCharts([path], folder)).toEqual({
    ok: false,
    problems: [`workflows[0]: ${problem}`],
  });
});

it('names a workflow that a chart starts and no file has, unless the file is looked at alone', async () => {
  const name = 'starts.mjs';
  writeFileSync(
    join(folder, name),
    [
      `import { defineWorkflow, workflow } from ${library};`,
      `import { setup } from ${xstate};`,
      `const line = defineWorkflow({ name: 'line', version: 2, chart: ${chart} });`,
      `export const order = defineWorkflow({ name: 'order', version: 1, chart: setup({ actors: { line: workflow(line) } }).createMachine({ invoke: { src: 'line' } }) });`,
    ].join('\n'),
  );
  const problem =
    'workflows: order: the actor line starts line of version 2, which no file exports';
  expect(await loadCharts([name], folder)).toEqual({ ok: false, problems: [problem] });
  expect(await loadCharts([name], folder, { isWhole: false })).toMatchObject({ ok: true });
  const lines = file('lines.mjs', [['line', chart]]);
  expect(await loadCharts([name, lines], folder)).toMatchObject({ ok: false });
});
