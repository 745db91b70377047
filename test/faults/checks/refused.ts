/**
 * Invariant: what a client was told to have failed stays so, and nobody is refused for long because
 * a connection fell silent.
 */
import { type Check, type Evidence, hindrances } from '../evidence.ts';
import type { Entry } from '../journal.ts';
import type { InjectedFault } from '../nemesis.ts';

/** How long after the refusal Redis may still take a request in: what is not known of its clock. */
const takenInLateMs = 250;

export interface RefusedJob {
  readonly id: string;
  /** How long after its last refusal Redis took it in; negative for before. */
  readonly afterMs: number;
}

const isRefused = ({ told }: Entry): boolean => told.kind === 'fault' && told.code === 900;

/**
 * Jobs of requests of which every client was told fault 900.
 *
 * Those that were taken in before the refusal are unavoidable: Redis had them, and its answer did
 * not come in time. A job that ended in fault 900 by itself was taken in before that, too.
 */
export const refusedJobs = ({ journal, jobs, timeline }: Evidence): readonly RefusedJob[] => {
  const requests = new Map<string, Entry[]>();
  for (const entry of journal) {
    if (entry.name !== 'sign' || entry.apTransId === undefined) continue;
    requests.set(entry.apTransId, [...(requests.get(entry.apTransId) ?? []), entry]);
  }
  return [...jobs.values()].flatMap(({ id, apTransId }) => {
    const entries = requests.get(apTransId) ?? [];
    const added = timeline.get(id)?.find(({ event }) => event === 'added')?.at;
    if (added === undefined || entries.length === 0 || !entries.every(isRefused)) return [];
    return [{ id, afterMs: added - Math.max(...entries.map(({ to }) => to)) }];
  });
};

export const ranAfterRefusal = (evidence: Evidence): readonly RefusedJob[] =>
  refusedJobs(evidence).filter(({ afterMs }) => afterMs > takenInLateMs);

const refusedStaysRefused: Check = function* (evidence) {
  for (const { id, afterMs } of ranAfterRefusal(evidence)) {
    const says = `told to have failed, and taken in ${afterMs} ms after that`;
    yield { rule: 'what was refused does not run', id, says };
  }
};

/**
 * How long an API may refuse because its connections have fallen silent, and how long it is looked
 * at afterwards.
 */
const silentApiMs = 5000;
const lookedAtMs = 10_000;

/** Whether a fault may be why an API refused something. */
const mayBe = ({ target }: InjectedFault, { api }: Entry): boolean =>
  target === api || !/^(?:api|worker)-/.test(target);

const silentApisComeBack: Check = function* (evidence) {
  const { journal, faults } = evidence;
  for (const fault of faults) {
    const { kind, target, from } = fault;
    if (kind !== 'dead-peer-api' && kind !== 'dead-peer-everybody') continue;
    const others = hindrances(evidence).filter((other) => other !== fault);
    const backAt = from + silentApiMs;
    for (const entry of journal) {
      if (entry.name !== 'sign' || entry.mode !== 'asynch' || !isRefused(entry)) continue;
      if (target !== 'everybody' && entry.api !== target) continue;
      if (entry.from < backAt || entry.from > backAt + lookedAtMs) continue;
      // Whatever else went on has excuses of its own.
      if (others.some((other) => mayBe(other, entry) && other.from < entry.to && other.to > from))
        continue;
      const says = `${entry.api} refused ${entry.apTransId} ${entry.from - from} ms after its connections fell silent`;
      yield { rule: 'an API gives up silent connections within 5 s', says };
    }
  }
};

export const refusedChecks: readonly Check[] = [refusedStaysRefused, silentApisComeBack];
