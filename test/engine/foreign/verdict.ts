/**
 * same       After each event both had the same.
 * refused    The engine refuses the chart, an input or a value, and says why.
 * varies     Two runs in XState differ from each other already.
 */
export interface Verdict {
  readonly file: string;
  readonly test: string;
  readonly index: number;
  readonly kind: 'same' | 'refused' | 'varies' | 'different';
  readonly detail: string;
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
  'different',
] as const;
type Reason = (typeof reasons)[number];

/** Tests whose charts only a live interpreter can run, and what they are about. */
const named: Readonly<Record<string, Reason>> = {
  'system > should be accessible in promise logic': 'different by design: a promise reads the live system',
  'actors > should only spawn an initial actor once when it synchronously responds with an event':
    'different by design: a function of the chart counts its own calls',
  'system > should give a list of runnings actors':
    'different by XState alone: a child without an id stays listed after it was stopped',
};

/** XState ended with just the error that the action threw. */
const isThrownByAction = (detail: string): boolean => {
  const [, message] = /^an action threw \w+: (.*?); step \d+, tree: /.exec(detail) ?? [];
  return message !== undefined && detail.includes(`"error":${JSON.stringify(message)},"status":"error"`);
};

/** One reads the private parser of SCXML, one checks a schema that is not in the package. */
export const knownNotToRun: readonly string[] = ['json.test.ts', 'scxml.test.ts'];

const reasonOf = ({ kind, detail, test }: Verdict): Reason => {
  if (kind === 'same') return 'same';
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
  if (isThrownByAction(detail)) return 'different by design: an action throws, and an effect is tried again';
  return named[test] ?? 'different';
};

export const explain = (verdict: Verdict): Verdict & { readonly reason: Reason } => ({
  ...verdict,
  reason: reasonOf(verdict),
});

export const tableOf = (
  verdicts: readonly { readonly reason: Reason }[],
  notRun: readonly string[],
): string => {
  const rows = reasons
    .map((reason) => [reason, verdicts.filter((each) => each.reason === reason).length] as const)
    .filter(([reason, count]) => count > 0 || reason === 'different');
  return [
    '# Charts of XState’s own tests',
    '',
    'Written by `npm run foreign` (run.ts says how to get the charts). Each chart runs with the events',
    'of its test; a chart that a test makes but does not run gets the events that it names, once each.',
    'After each step status, value, context, output, error, children, actions and logs are compared.',
    '',
    '| result | charts |',
    '|---|--:|',
    ...rows.map(([reason, count]) => `| ${reason} | ${count} |`),
    `| all | ${verdicts.length} |`,
    '',
    `Did not run to their end: ${notRun.join(', ') || 'none'}. Charts of \`*types.test.ts\` run only where their test runs them.`,
    '',
  ].join('\n');
};
