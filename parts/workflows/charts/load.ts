/**
 * Loads the charts that an operator names in the configuration (`workflows`). A file exports one
 * workflow or several, each made by `defineWorkflow`.
 */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
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

/**
 * The error of an import does not hold it: Node only prints it.
 *
 * @returns Undefined when another file is wrong.
 */
const lineOfSyntaxError = (path: string): string | undefined => {
  // Node checks TypeScript as if it were JavaScript.
  if (!/\.[cm]?js$/.test(path)) return undefined;
  const { stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' });
  const [place = ''] = (stderr ?? '').split('\n', 1);
  const isHere = [path, pathToFileURL(path).href].some((each) => place.startsWith(`${each}:`));
  return isHere ? /:(\d+)$/.exec(place)?.[1] : undefined;
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
      const line =
        error instanceof SyntaxError ? lineOfSyntaxError(resolve(directory, file)) : undefined;
      problems.push(`workflows[${index}]: ${line === undefined ? '' : `line ${line}: `}${message}`);
    }
  }
  const unnamed = isWhole && problems.length === 0 ? unnamedIn(loaded) : undefined;
  if (unnamed !== undefined) problems.push(`workflows: ${unnamed}`);
  return problems.length === 0 ? { ok: true, value: loaded } : { ok: false, problems };
};
