/**
 * Invariant: the first outcome of an attempt stands, and what decided it is what everybody is told.
 */
import type { SignatureRecord } from '../../../machines/record.ts';
import { maxKeys } from '../../../packages/engine/src/redis/deliver-script.ts';
import { type Fault, faultLine, isFaultCode } from '../../../packages/protocol/src/fault.ts';
import { type Check, endsOf, hindrances } from '../evidence.ts';
import { excused, marginMs } from '../excuses.ts';
import { byTransaction, isOutcome, nameOf } from './told.ts';

const short = (text: string): string => (text.length > 80 ? `${text.slice(0, 77)}…` : text);

const firstOutcomeStands: Check = function* (evidence) {
  for (const [id, entries] of byTransaction(evidence)) {
    const replays = entries.filter(({ name }) => name === 'replay');
    const final = evidence.finals.get(id);
    const told = [
      ...entries,
      ...(final === undefined
        ? []
        : [{ from: evidence.healedAt, to: Number.MAX_SAFE_INTEGER, told: final } as const]),
    ].filter((entry) => isOutcome(entry.told));
    for (const [index, later] of told.entries()) {
      const earlier = told[index - 1];
      if (earlier === undefined || nameOf(earlier.told) === nameOf(later.told)) continue;
      // A replay whose call overlaps, or whose answer got lost, may have come between.
      const between = replays.some(({ from, to }) => from <= later.to && to >= earlier.from);
      if (between) continue;
      const says = `told "${short(nameOf(earlier.told))}", then "${short(nameOf(later.told))}" without a replay`;
      yield { rule: 'the first outcome of an attempt stands', id, says };
    }
  }
};

/**
 * Between the clocks of the client and of Redis, which are one, and the answer that is on its way.
 */
const clockMs = 100;

/** Whoever asks after the end is told the end, unless somebody runs it again. */
const endedStaysEnded: Check = function* (evidence) {
  for (const [id, entries] of byTransaction(evidence)) {
    const replays = entries.filter(({ name }) => name === 'replay');
    /** An answer may have been right when it was asked for, and have been on its way for long. */
    const ends = [
      ...endsOf(evidence, id).map((at) => ({ since: at, at: at + clockMs })),
      ...entries.flatMap(({ told, from, to }) =>
        isOutcome(told) ? [{ since: from, at: to }] : [],
      ),
    ];
    for (const { name, told, from, to } of entries) {
      if (name !== 'status' || told.kind !== 'open') continue;
      const [ended] = ends.filter(({ at }) => at < from).sort((one, other) => other.at - one.at);
      if (ended === undefined) continue;
      // The end that is known may be that of the attempt before.
      if (replays.some((replay) => replay.from <= to && replay.to >= ended.since - clockMs))
        continue;
      const says = `asked ${from - ended.at} ms after its end, it was answered as open`;
      yield { rule: 'what has ended is not answered as open', id, says };
    }
  }
};

const faultOfAttempt = (record: SignatureRecord | undefined, attempt: number): Fault | undefined =>
  record?.history.find((entry) => entry.state === 'failed' && entry.attempt === attempt)?.fault;

const describe = (reason: Fault | undefined): string =>
  reason === undefined ? 'no fault' : faultLine(reason);

const answersDecide: Check = function* (evidence) {
  const { journal, jobs } = evidence;
  for (const { name, id = '', attempt = 0, detail, told, to } of journal) {
    if (name !== 'cancel' || told.kind !== 'answer' || told.result !== 'accepted') continue;
    const job = jobs.get(id);
    const ended = faultOfAttempt(job?.record, attempt);
    if (ended?.code !== 401 || ended.detail !== detail) {
      const says = `attempt ${attempt} took "${detail}" and ended with ${describe(ended)}`;
      yield { rule: 'an accepted answer decides', id, says };
    }
    const end = endsOf(evidence, id)[attempt - 1];
    const due = excused(hindrances(evidence), to);
    const late = end === undefined ? 0 : end - due;
    if (late > (due === to ? promptMs : marginMs)) {
      const says = `attempt ${attempt} took an answer and ended ${late} ms after it and all faults`;
      yield { rule: 'an accepted answer ends the attempt at once', id, says };
    }
  }
};

/** Taking an answer wakes the job: what is left is a step, on a slow machine. */
const promptMs = 4000;

/** A chart takes one answer of an attempt, and an answer that it has taken is the end of it. */
const oneAnswerEnds: Check = function* ({ journal, jobs }) {
  const rule = 'one answer ends an attempt';
  for (const { id, answers, record, end } of jobs.values()) {
    const taken = answers.filter((answer) => answer === 'taken').length;
    const told = journal.filter(
      (entry) =>
        entry.id === id && entry.told.kind === 'answer' && entry.told.result === 'accepted',
    ).length;
    const ended = (record?.history ?? []).filter(
      ({ state }) => state === 'failed' || state === 'signed',
    ).length;
    if (taken > ended)
      yield { rule, id, says: `${taken} answers were taken, and ${ended} attempts have ended` };
    if (end === undefined) continue;
    // The oldest verdicts go when there are too many. What they decided stays, and is held against
    // other rules.
    if (told > taken && answers.length < maxKeys)
      yield { rule, id, says: `${told} answers were acknowledged, and ${taken} were taken` };
    const open = answers.filter((answer) => answer === 'waiting' || answer === 'accepted');
    if (open.length > 0)
      yield { rule, id, says: `it has ended with answers that are ${open.join(', ')}` };
  }
};

/** Whoever is told `busy` has waited for so long. */
const busyMs = 10_000;

const answersAreJudged: Check = function* (evidence) {
  for (const { id, told, to } of evidence.journal) {
    if (told.kind !== 'answer' || told.result !== 'busy') continue;
    const late = to - excused(hindrances(evidence), to - busyMs);
    if (late <= marginMs) continue;
    const says = `an answer was neither taken nor refused for ${late} ms after all faults`;
    yield { rule: 'an answer is taken or refused at once', id, says };
  }
};

/** What each client was told of an attempt's end is what the record remembers of it. */
const recordsRemember: Check = function* (evidence) {
  for (const [id, entries] of byTransaction(evidence)) {
    const record = evidence.jobs.get(id)?.record;
    if (record === undefined) continue;
    const codes = new Set(record.history.map(({ fault: reason }) => reason?.code));
    for (const { told } of entries) {
      if (
        told.kind !== 'fault' ||
        !isOutcome(told) ||
        !isFaultCode(told.code) ||
        codes.has(told.code)
      )
        continue;
      const says = `a client was told fault ${told.code}, which is in no attempt of its history`;
      yield { rule: 'the first outcome of an attempt stands', id, says };
    }
  }
};

const replaysCount: Check = function* (evidence) {
  for (const [id, entries] of byTransaction(evidence)) {
    const replays = entries.filter(({ name }) => name === 'replay');
    const sure = replays.filter(({ told }) => told.kind === 'replayed').length;
    const attempts = evidence.jobs.get(id)?.record?.attempt ?? 1;
    if (attempts - 1 >= sure && attempts - 1 <= replays.length) continue;
    const says = `${sure} replays were acknowledged (${replays.length} tried), and it is at attempt ${attempts}`;
    yield { rule: 'a replay is one more attempt', id, says };
  }
};

export const outcomeChecks: readonly Check[] = [
  firstOutcomeStands,
  endedStaysEnded,
  recordsRemember,
  answersDecide,
  oneAnswerEnds,
  answersAreJudged,
  replaysCount,
];
