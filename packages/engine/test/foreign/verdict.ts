import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * same       After each event both had the same.
 * refused    The engine refuses the chart, an input or a value, and says why.
 * varies     Two runs in XState differ from each other already.
 * none       An example that makes no chart.
 */
export interface Verdict {
  readonly file: string;
  readonly test: string;
  readonly index: number;
  /** The chart of an example with random events (walk.ts). */
  readonly isWalk?: boolean;
  readonly kind: 'same' | 'refused' | 'varies' | 'different' | 'none';
  readonly detail: string;
  /** How many different snapshots the steps of the run had. */
  readonly seen: number;
}

/** Tests of a checkout, or its examples, each by its folder in it. */
export interface Collection {
  readonly heading: string;
  readonly checkout: string;
  readonly tests?: string;
  readonly examples?: string;
}

/** What a verdict comes to, in the order of the table. */
const reasons = [
  'same',
  'refused: a callback, an observable or another logic that lives in memory alone',
  'refused: a name that nobody implements',
  'refused: a value that cannot be stored',
  'no chart: XState cannot make it either',
  'different by design: an action throws, and an effect is tried again',
  'different by design: a promise reads the live system',
  'different by design: a function of the chart counts its own calls',
  'different by XState alone: a child without an id stays listed after it was stopped',
  'two runs in XState differ',
  'left out: it has no chart',
  'different',
] as const;
type Reason = (typeof reasons)[number];

/** Tests whose charts only a live interpreter can run, and what they are about. */
const named: Readonly<Record<string, Reason>> = {
  'system > should be accessible in promise logic':
    'different by design: a promise reads the live system',
  'actors > should only spawn an initial actor once when it synchronously responds with an event':
    'different by design: a function of the chart counts its own calls',
  'system > should give a list of runnings actors':
    'different by XState alone: a child without an id stays listed after it was stopped',
};

/** XState ended with just the error that the action threw. */
const isThrownByAction = (detail: string): boolean => {
  const [, message] = /^an action threw \w+: (.*?); step \d+, tree: /.exec(detail) ?? [];
  return (
    message !== undefined && detail.includes(`"error":${JSON.stringify(message)},"status":"error"`)
  );
};

/** One reads the private parser of SCXML, one checks a schema that is not in the package. */
export const knownNotToRun: readonly string[] = ['json.test.ts', 'scxml.test.ts'];

const reasonOf = ({ kind, detail, test }: Verdict): Reason => {
  if (kind === 'same') return 'same';
  if (kind === 'none') return 'left out: it has no chart';
  if (kind === 'varies') return 'two runs in XState differ';
  if (kind === 'refused') {
    if (detail.includes('lives in memory alone'))
      return 'refused: a callback, an observable or another logic that lives in memory alone';
    if (/is not implemented|must be named in setup/.test(detail))
      return 'refused: a name that nobody implements';
    if (detail.includes('cannot be stored')) return 'refused: a value that cannot be stored';
    if (detail.startsWith('Initial state node')) return 'no chart: XState cannot make it either';
    return 'different';
  }
  if (isThrownByAction(detail))
    return 'different by design: an action throws, and an effect is tried again';
  return named[test] ?? 'different';
};

export const explain = (verdict: Verdict): Verdict & { readonly reason: Reason } => ({
  ...verdict,
  reason: reasonOf(verdict),
});

type Explained = Pick<Verdict, 'isWalk' | 'seen'> & { readonly reason: Reason };

const count = (verdicts: readonly Explained[], reason: Reason): number =>
  verdicts.filter((each) => each.reason === reason).length;

const allSeen = (verdicts: readonly Explained[]): string =>
  `The runs that are the same went through ${verdicts
    .filter(({ reason }) => reason === 'same')
    .reduce((sum, { seen }) => sum + seen, 0)} different snapshots.`;

/** @returns The lines of a table, with a row for each reason that there is. */
const tableOf = (columns: Readonly<Record<string, readonly Explained[]>>): readonly string[] => {
  const names = Object.keys(columns);
  const lists = Object.values(columns);
  const row = (name: string, counts: readonly number[]) => `| ${name} | ${counts.join(' | ')} |`;
  return [
    `| result | ${names.join(' | ')} |`,
    `|---|${names.map(() => '--:|').join('')}`,
    ...reasons
      .map((reason) => [reason, lists.map((list) => count(list, reason))] as const)
      .filter(([reason, counts]) => reason === 'different' || counts.some((each) => each > 0))
      .map(([reason, counts]) => row(reason, counts)),
    row(
      'all',
      lists.map((list) => list.length),
    ),
  ];
};

export const sectionOf = (
  { tests, examples }: Collection,
  verdicts: readonly Explained[],
  notRun: readonly string[],
): string =>
  examples === undefined
    ? [
        `From \`${tests}\`. Each chart runs with the events of its test; a chart that a test makes but does not`,
        'run gets the events that it names, once each.',
        '',
        ...tableOf({ charts: verdicts }),
        '',
        `${allSeen(verdicts)} Did not run to their end: ${notRun.join(', ') || 'none'}.`,
      ].join('\n')
    : [
        `From \`${examples}\`. What an example runs when it is loaded runs with its own events, for 40 seconds of`,
        'simulated time. Each chart also runs three times with 40 random events, whose fields are those that it',
        'reads. Charts of pages run without the page.',
        '',
        ...tableOf({
          'as the example runs it': verdicts.filter(({ isWalk }) => isWalk !== true),
          'with random events': verdicts.filter(({ isWalk }) => isWalk === true),
        }),
        '',
        allSeen(verdicts),
      ].join('\n');

export const sectionOfKills = (result: {
  readonly instances: number;
  readonly charts: number;
  readonly kills: number;
  readonly same: number;
  readonly different: number;
  readonly effects: number;
  readonly repeated: number;
  readonly seed: number;
}): string =>
  [
    'Written by `npm run foreign -- kills` (kills.ts). Instances of XState’s and Restate’s examples and of this',
    'project’s own charts run on two worker processes, each of which is killed with -9 at a command of its',
    'choice, and started again. State, context, output, children, effects in order (of `family` for each of its',
    'children) and the answers of activities are compared with plain XState, which runs each instance five times',
    'with faster and slower activities: what a kill delays may come after a timer. Left out are what a person',
    'answers at the terminal, what shares a circuit breaker in memory, and what the engine refuses.',
    '',
    '| charts | instances | kills | same | different | effects | repeated, under the same id |',
    '|--:|--:|--:|--:|--:|--:|--:|',
    `| ${[result.charts, result.instances, result.kills, result.same, result.different, result.effects, result.repeated].join(' | ')} |`,
    '',
    `Seed ${result.seed}.`,
  ].join('\n');

/** Replaces the text under a heading of the second level, or adds it at the end. */
export const writeSection = (file: string, heading: string, text: string): void => {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const parts = before.split(/^(?=## )/m);
  const section = `## ${heading}\n\n${text}\n`;
  const index = parts.findIndex((part) => part.startsWith(`## ${heading}\n`));
  const after = index < 0 ? [...parts, section] : parts.with(index, section);
  writeFileSync(file, `${after.map((part) => part.trimEnd()).join('\n\n')}\n`);
};
