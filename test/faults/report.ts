/** What a run says to the person who started it, and the numbers that docs/reliability.md shows. */
import { excusedIn, knownProcesses } from './checks/process-known.ts';
import { ranAfterRefusal, refusedJobs } from './checks/refused.ts';
import { type Evidence, endsOf, hindrances, type Violation } from './evidence.ts';
import { excused, excusedShare } from './excuses.ts';
import type { Told } from './journal.ts';
import { repeatedMarks } from './loads/own-charts.ts';
import type { TrialResult } from './trial.ts';

const count = (names: Iterable<string>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return Object.fromEntries(
    Object.entries(counts).sort(([one], [other]) => one.localeCompare(other)),
  );
};

const resultOf = (told: Told): string => {
  if (told.kind === 'fault') return `fault ${told.code}`;
  return told.kind === 'answer' ? told.result : told.kind;
};

/** The witness hears of a prompt when the line of the log has come to it. */
const heardLateMs = 250;

/**
 * How long after its deadline, and after all faults, the latest transaction ended; milliseconds.
 */
const latestEnd = (evidence: Evidence): number => {
  let latest = 0;
  for (const job of evidence.jobs.values()) {
    const [ended] = endsOf(evidence, job.id);
    if (ended === undefined) continue;
    latest = Math.max(
      latest,
      ended - excused(hindrances(evidence), job.timestamp + job.timeoutSeconds * 1000),
    );
  }
  return latest;
};

/** The part of the run in which the checker excuses what is late. */
const excusedPercent = (
  { journal, faults, healedAt }: Evidence,
  all: Evidence['faults'],
): number => {
  const from = Math.min(
    healedAt,
    journal[0]?.from ?? healedAt,
    ...faults.map((fault) => fault.from),
  );
  return Math.round(excusedShare(all, from, healedAt) * 100);
};

export interface ProcessSummary {
  readonly outcomes: Readonly<Record<string, number>>;
  readonly signatures: number;
  readonly prompts: number;
  /** Evidence records that verify. */
  readonly verified: number;
  /** How long after its deadline, and after all faults, the latest one ended; milliseconds. */
  readonly latestEndMs: number;
}

/** What the kinds of load beside clients and processes did. */
export interface LoadSummary {
  /** Bulks that are done, and what they did. */
  readonly bulks: { readonly done: number; readonly replays: number; readonly cancels: number };
  /**
   * Different mails; those that came again; those that the server refused; signatures by their
   * links.
   */
  readonly mails: {
    readonly sent: number;
    readonly again: number;
    readonly refused: number;
    readonly signed: number;
  };
  /** Those that ended with tokens, and how often a person or client had to begin again. */
  readonly logins: {
    readonly begun: number;
    readonly withTokens: number;
    readonly troubles: number;
  };
  /**
   * Charts that completed; effects and activities; those that came again after they had been taken.
   */
  readonly charts: { readonly completed: number; readonly marks: number; readonly again: number };
  /** Processes that completed; signatures in their PDFs; downloads that were verified. */
  readonly documents?: {
    readonly completed: number;
    readonly signatures: number;
    readonly downloads: number;
  };
}

export interface Summary {
  readonly operations: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly transactions: number;
  readonly acknowledged: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly prompts: number;
  readonly repeatedAsks: number;
  readonly lateAsks: number;
  readonly texts: number;
  readonly latestEndMs: number;
  /** The part of the run, in percent, in which what is late is excused. */
  readonly excusedPercent: number;
  /** The same, because the machine gave the service no time. */
  readonly starvedPercent: number;
  /**
   * Requests that were refused and taken in afterwards; and those that had been taken in before.
   */
  readonly refusedThatRan: number;
  readonly refusedTakenIn: number;
  readonly violations: number;
  readonly processes: ProcessSummary;
  readonly loads: LoadSummary;
}

/** What a full run leaves in test/faults/results. */
export interface RunResults extends Summary {
  readonly seed: string;
  readonly durationMs: number;
  readonly cores: number;
}

const summariseProcesses = (evidence: Evidence): ProcessSummary => {
  const known = knownProcesses(evidence);
  const prompts = known.flatMap((each) => each.prompts);
  const late = known
    .filter(({ plan, final }) => final?.context?.steps.length === plan.steps.length)
    .map(
      ({ plan, final }) => Date.parse(final?.endedAt ?? '') - excusedIn(evidence, plan.deadline),
    );
  return {
    outcomes: count(known.map(({ final }) => final?.status ?? 'not taken in')),
    signatures: prompts.filter(({ isSigned }) => isSigned).length,
    prompts: prompts.filter(({ askedAt }) => askedAt !== undefined).length,
    verified: known.filter(({ run }) => run.evidence !== undefined && 'signatures' in run.evidence)
      .length,
    latestEndMs: Math.max(0, ...late.filter((ms) => !Number.isNaN(ms))),
  };
};

const summariseLoads = ({
  loads: { bulks, mails, logins, charts, documents },
}: Evidence): LoadSummary => {
  const isDone = ({ report }: (typeof bulks)[number]): boolean => report?.state === 'done';
  const itemsOf = (kind: 'replay' | 'cancel'): number =>
    bulks
      .filter((run) => isDone(run) && run.kind === kind)
      .reduce((sum, { report }) => sum + (report?.items.length ?? 0), 0);
  const notes = logins.flatMap((run) => run.notes);
  const sent = new Set(mails.mails.map(({ id }) => id)).size;
  return {
    bulks: {
      done: bulks.filter(isDone).length,
      replays: itemsOf('replay'),
      cancels: itemsOf('cancel'),
    },
    mails: {
      sent,
      again: mails.mails.length - sent,
      refused: mails.refused.length,
      signed: mails.runs
        .flatMap(({ visits }) => visits)
        .filter(({ what, status }) => what === 'press' && status === 303).length,
    },
    logins: {
      begun: logins.length,
      withTokens: notes.filter(({ what }) => what === 'tokens').length,
      troubles: notes.filter(({ what }) => what === 'trouble').length,
    },
    charts: {
      completed: charts.runs.filter(({ looks }) => looks.at(-1)?.body?.status === 'completed')
        .length,
      marks: new Set(charts.marks.map(({ key }) => key)).size,
      again: repeatedMarks(charts.marks),
    },
    documents: {
      completed: documents.filter(({ looks }) => looks.at(-1)?.body?.status === 'completed').length,
      signatures: documents.reduce(
        (sum, { downloads }) => sum + (downloads.at(-1)?.transactions?.length ?? 0),
        0,
      ),
      downloads: documents
        .flatMap(({ downloads }) => downloads)
        .filter(({ status }) => status === 200).length,
    },
  };
};

export const summarise = ({ evidence, violations }: TrialResult): Summary => {
  const { journal, faults, jobs, finals, asked, deliveries } = evidence;
  const prompts = new Set(asked.map(({ id, attempt }) => `${id} ${attempt}`)).size;
  return {
    operations: count(
      journal.map(({ name, mode, told }) => `${name}${mode ? ` ${mode}` : ''}: ${resultOf(told)}`),
    ),
    faults: count(
      faults.map(({ kind, problem }) => (problem === undefined ? kind : `${kind} (failed)`)),
    ),
    transactions: jobs.size,
    acknowledged: finals.size,
    outcomes: count([...finals.values()].map(resultOf)),
    prompts,
    repeatedAsks: asked.length - prompts,
    lateAsks: asked.filter(
      ({ id, attempt, at }) => at - heardLateMs > (endsOf(evidence, id)[attempt - 1] ?? at),
    ).length,
    texts: deliveries.filter(({ shown }) => shown).length,
    latestEndMs: latestEnd(evidence),
    excusedPercent: excusedPercent(evidence, faults),
    starvedPercent: excusedPercent(evidence, evidence.processes.starved),
    refusedThatRan: ranAfterRefusal(evidence).length,
    refusedTakenIn: refusedJobs(evidence).length - ranAfterRefusal(evidence).length,
    violations: violations.length,
    processes: summariseProcesses(evidence),
    loads: summariseLoads(evidence),
  };
};

const columns = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, times]) => `  ${String(times).padStart(6)}  ${name}`)
    .join('\n');

/** One line for each kind. */
export const describeLoads = ({
  bulks,
  mails,
  logins,
  charts,
  documents,
}: LoadSummary): readonly string[] => [
  `Bulks: ${bulks.done} done, with ${bulks.replays} replays and ${bulks.cancels} cancels.`,
  `Mails: ${mails.sent} sent, ${mails.again} of them again, ${mails.refused} refused at first; ${mails.signed} links led to a signature.`,
  `Logins: ${logins.withTokens} of ${logins.begun} got tokens; a step was repeated ${logins.troubles} times.`,
  `Own charts: ${charts.completed} completed, with ${charts.marks} effects and activities, ${charts.again} of them again.`,
  ...(documents === undefined
    ? []
    : [
        `Documents: ${documents.completed} processes completed, with ${documents.signatures} signatures in their PDFs; ${documents.downloads} downloads verified.`,
      ]),
];

export const printSummary = (summary: Summary): string =>
  [
    'operations',
    columns(summary.operations),
    'faults injected',
    columns(summary.faults),
    'last status of acknowledged transactions',
    columns(summary.outcomes),
    `${summary.transactions} transactions, ${summary.acknowledged} acknowledged; ${summary.prompts} prompts (${summary.repeatedAsks} put again while open, ${summary.lateAsks} of the asks after their end), ${summary.texts} texts`,
    `refused requests that ran: ${summary.refusedThatRan}; ${summary.refusedTakenIn} had been taken in before the refusal`,
    `latest end: ${summary.latestEndMs} ms after its deadline and all faults; faults excused what was due in ${summary.excusedPercent} % of the time, and a machine that was short of time in ${summary.starvedPercent} %`,
    'processes',
    columns(summary.processes.outcomes),
    `${summary.processes.signatures} signatures by ${summary.processes.prompts} prompts; ${summary.processes.verified} evidence records verify; latest end: ${summary.processes.latestEndMs} ms after its deadline and all faults`,
    ...describeLoads(summary.loads),
  ].join('\n');

const time = (at: number): string => new Date(at).toISOString().slice(11, 23);

/** All that is known about the transaction of a violation, in the order of time. */
const excerpt = (
  { journal, timeline, asked, deliveries, faults, jobs }: Evidence,
  id: string,
): string => {
  const { apTransId } = jobs.get(id) ?? {};
  const lines: { readonly at: number; readonly text: string }[] = [];
  for (const entry of journal) {
    const told = 'id' in entry.told ? entry.told.id : undefined;
    if (
      told !== id &&
      entry.id !== id &&
      (apTransId === undefined || entry.apTransId !== apTransId)
    )
      continue;
    const text = JSON.stringify(entry.told).slice(0, 120);
    const attempt = entry.attempt === undefined ? '' : ` attempt ${entry.attempt}`;
    lines.push({ at: entry.from, text: `${entry.client} ${entry.name}${attempt}` });
    lines.push({ at: entry.to, text: `${entry.client} ${entry.name} was told ${text}` });
  }
  for (const { at, event } of timeline.get(id) ?? []) lines.push({ at, text: `queue: ${event}` });
  for (const { at, worker, attempt, ...prompt } of asked) {
    if (prompt.id === id) lines.push({ at, text: `${worker} asked for attempt ${attempt}` });
  }
  for (const { at, key, worker, shown } of deliveries) {
    if (key.startsWith(`${id}-`))
      lines.push({ at, text: `${worker} sent ${key}${shown ? '' : ', refused'}` });
  }
  lines.sort((one, other) => one.at - other.at);
  const [first] = lines;
  const last = lines.at(-1);
  if (first === undefined || last === undefined) return '  nothing is known';
  for (const { kind, target, from, to, amount } of faults) {
    if (from > last.at || to < first.at) continue;
    lines.push({ at: from, text: `-- ${kind} ${target}${amount ? ` (${amount} ms)` : ''}` });
    lines.push({ at: to, text: `-- ${kind} ${target} over` });
  }
  const record = jobs.get(id);
  return [
    ...lines.sort((one, other) => one.at - other.at).map(({ at, text }) => `  ${time(at)} ${text}`),
    `  in the end: ${JSON.stringify({ end: record?.end, reason: record?.failedReason, history: record?.record?.history })}`,
  ].join('\n');
};

/** What was seen of a process, its transactions among it. */
const story = (evidence: Evidence, process: string): string => {
  const known = knownProcesses(evidence).find(({ run }) => run.id === process);
  if (known === undefined) return excerpt(evidence, process);
  const { run, prompts } = known;
  const lines = run.seen.map(({ to, status, answer }) => {
    const steps = answer?.context?.steps ?? [];
    const signers = steps.map(
      (step) =>
        `${step.name} ${step.state} (${step.signers.map(({ key, state }) => `${key} ${state}`)})`,
    );
    return { at: to, text: `answered ${status} ${answer?.status ?? ''} ${signers.join(', ')}` };
  });
  for (const { from, what, step, key, result } of run.orders)
    lines.push({ at: from, text: `${what} ${step ?? ''} ${key ?? ''}: ${result}` });
  for (const { at, type, data } of evidence.processes.messages)
    if (data.process === process)
      lines.push({
        at,
        text: `told ${type} ${data.step ?? ''} ${data.key ?? ''} ${data.state ?? ''}`,
      });
  for (const { id, step, key, place, addedAt, endedAt, isSigned } of prompts) {
    lines.push({ at: addedAt, text: `${id} added for ${step} ${key}/${place}` });
    if (Number.isFinite(endedAt))
      lines.push({ at: endedAt, text: `${id} ${isSigned ? 'signed' : 'failed'}` });
  }
  const told = lines
    .sort((one, other) => one.at - other.at)
    .filter(({ text }, index) => text !== lines[index - 1]?.text)
    .map(({ at, text }) => `  ${time(at)} ${text}`);
  return [`  ${JSON.stringify(run.shape)}`, ...told].join('\n');
};

/** With what is known about the transaction, and about any other that the sentence names. */
export const printViolation = (evidence: Evidence, { rule, id, says }: Violation): string => {
  const named = [...new Set([id ?? [], ...(says.match(/\bH[0-9A-Za-z]{19}\b/g) ?? [])].flat())];
  const stories = named.map((each) => `  -- ${each}\n${story(evidence, each)}`);
  return [`VIOLATION: ${rule}\n  ${id ?? ''} ${says}`, ...stories].join('\n');
};
