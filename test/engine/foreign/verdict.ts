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
  'by design: an action throws, and an effect is tried again',
  'by design: a promise reads the live system',
  'by design: a function of the chart counts its own calls',
  'XState alone: a child without an id stays listed after it was stopped',
  'two runs in XState differ',
  'different',
] as const;
type Reason = (typeof reasons)[number];

/** Tests whose charts only a live interpreter can run, and what they are about. */
const named: Readonly<Record<string, Reason>> = {
  'system > should be accessible in promise logic': 'by design: a promise reads the live system',
  'actors > should only spawn an initial actor once when it synchronously responds with an event':
    'by design: a function of the chart counts its own calls',
  'system > should give a list of runnings actors':
    'XState alone: a child without an id stays listed after it was stopped',
};

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
  if (detail.startsWith('an action threw'))
    return 'by design: an action throws, and an effect is tried again';
  return named[test] ?? 'different';
};

export const explain = (verdict: Verdict): Verdict & { readonly reason: Reason } => ({
  ...verdict,
  reason: reasonOf(verdict),
});

export const tableOf = (verdicts: readonly { readonly reason: Reason }[]): string => {
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
  ].join('\n');
};
