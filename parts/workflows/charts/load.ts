/**
 * Loads the charts that an operator names in the configuration (`workflows`). A file exports one
 * workflow or several, each made by `defineWorkflow`.
 */
import { spawnSync } from 'node:child_process';
import { relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { activitiesOf } from '../../../packages/engine/src/chart.ts';
import { activityOf, type Workflow } from '../../../packages/engine/src/define.ts';
import { toError } from '../../../packages/engine/src/redis/to-error.ts';
import { service } from './service-activities.ts';

const provided = new Set(Object.values(service).map((logic) => activityOf(logic)?.provided));

const isWorkflow = (value: unknown): value is Workflow => {
  const { chart, parseInput, parseEvent } = Object(value) as Partial<Workflow>;
  return (
    typeof chart?.name === 'string' &&
    typeof parseInput === 'function' &&
    typeof parseEvent === 'function'
  );
};

/** A worker would not know what the chart starts. */
const unnamedIn = (loaded: readonly Workflow[]): string | undefined => {
  for (const { chart } of loaded)
    for (const { name: src, logic } of activitiesOf(chart)) {
      const other = activityOf(logic)?.starts?.chart;
      const isOne = ({ chart: each }: Workflow): boolean =>
        each.name === other?.name && each.version === other.version;
      if (other !== undefined && !loaded.some(isOne))
        return `${chart.name}: the actor ${src} starts ${other.name} of version ${other.version}, which no file exports`;
    }
  return undefined;
};

const problemIn = (
  found: readonly Workflow[],
  known: readonly Workflow[],
  taken: readonly string[],
): string | undefined => {
  if (found.length === 0) return 'the file exports no workflow (defineWorkflow of paraph/workflow)';
  for (const [index, { chart }] of found.entries()) {
    const { name, version } = chart;
    if (taken.includes(name)) return `${name}: the service has a workflow of this name`;
    const before = [...known, ...found.slice(0, index)];
    if (before.some((other) => other.chart.name === name && other.chart.version === version))
      return `${name}: there are two of version ${version}`;
    for (const { name: src, logic } of activitiesOf(chart)) {
      const wanted = activityOf(logic)?.provided;
      if (wanted !== undefined && !provided.has(wanted))
        return `${name}: the actor ${src} is ${wanted}, which this release does not provide`;
    }
  }
  return undefined;
};

/** What Node prints above an error of syntax: `file:///charts/one.mjs:2`. */
const placeAbove = (text: string): readonly [file: string, line: string] | undefined => {
  const [, found, line] = /^(\S.*):(\d+)$/.exec(text.split(/\r?\n/, 1)[0] ?? '') ?? [];
  if (found === undefined || line === undefined) return undefined;
  return [found.startsWith('file:') ? fileURLToPath(found) : found, line];
};

/**
 * The file that cannot be parsed, and its line. The error of an import may hold neither, Node only
 * prints them. Then the file is imported once more, in a process of its own; no module runs as long
 * as a file that it needs cannot be parsed.
 *
 * @param directory Paths in it are told relative to it.
 * @returns `charts/one.mjs, line 2`; undefined when Node does not say it.
 */
const placeOfSyntaxError = (
  { stack = '' }: Error,
  path: string,
  directory: string,
): string | undefined => {
  // Any other was thrown by a module that has run.
  const isOfParser = /^ +at .*/m.exec(stack)?.[0].includes('node:internal/modules') === true;
  const script = `await import(${JSON.stringify(pathToFileURL(path).href)})`;
  const printed = (): string =>
    spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })
      .stderr ?? '';
  const place = placeAbove(stack) ?? (isOfParser ? placeAbove(printed()) : undefined);
  if (place === undefined) return undefined;
  const inside = relative(resolve(directory), place[0]);
  return `${inside.startsWith('..') ? place[0] : inside}, line ${place[1]}`;
};

/**
 * @param directory What relative paths begin at.
 * @param options.isWhole Whether these are all files of the service: what their charts start must
 *   be among them. Default: true.
 * @param options.taken Names of workflows that the service has without them.
 * @returns `problems` name the place in the configuration and in the chart.
 */
export const loadCharts = async (
  files: readonly string[],
  directory: string,
  {
    isWhole = true,
    taken = [],
  }: { readonly isWhole?: boolean; readonly taken?: readonly string[] } = {},
): Promise<
  | { readonly ok: true; readonly value: readonly Workflow[] }
  | { readonly ok: false; readonly problems: readonly string[] }
> => {
  const loaded: Workflow[] = [];
  const problems: string[] = [];
  for (const [index, file] of files.entries()) {
    try {
      const exported = (await import(pathToFileURL(resolve(directory, file)).href)) as object;
      const found = [...new Set(Object.values(exported))].filter(isWorkflow);
      const problem = problemIn(found, loaded, taken);
      if (problem === undefined) loaded.push(...found);
      else problems.push(`workflows[${index}]: ${problem}`);
    } catch (error) {
      const [message = ''] = toError(error).message.split('\n', 1);
      const place =
        error instanceof SyntaxError
          ? placeOfSyntaxError(error, resolve(directory, file), directory)
          : undefined;
      problems.push(`workflows[${index}]: ${place === undefined ? '' : `${place}: `}${message}`);
    }
  }
  const unnamed = isWhole && problems.length === 0 ? unnamedIn(loaded) : undefined;
  if (unnamed !== undefined) problems.push(`workflows: ${unnamed}`);
  return problems.length === 0 ? { ok: true, value: loaded } : { ok: false, problems };
};
