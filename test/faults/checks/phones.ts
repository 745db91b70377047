/**
 * Invariant: a phone shows an attempt once, a SIM one prompt at a time, and a repeated request
 * nobody a second one.
 */
import type { Check, FinalJob } from '../evidence.ts';

const phones: Check = function* ({ clashes, asked, deliveries, jobs }) {
  for (const { msisdn, first, second } of clashes) {
    const says = `${msisdn} was shown attempt ${second.attempt} while it showed ${first.id} (attempt ${first.attempt})`;
    yield { rule: 'a SIM shows one prompt at a time', id: second.id, says };
  }
  const latest = new Map<string, number>();
  for (const { id, attempt, worker } of asked) {
    const highest = latest.get(id) ?? 0;
    const known = jobs.get(id)?.record?.attempt;
    if (attempt < highest) {
      const says = `${worker} asked for attempt ${attempt} after attempt ${highest} had been asked for`;
      yield { rule: 'a phone shows an attempt once', id, says };
    }
    if (known !== undefined && attempt > known) {
      yield {
        rule: 'a phone shows an attempt once',
        id,
        says: `attempt ${attempt} was asked for and never was`,
      };
    }
    latest.set(id, Math.max(highest, attempt));
  }
  const texts = new Map<string, string>();
  for (const { key, msisdn, text } of deliveries) {
    const id = key.slice(0, key.lastIndexOf('-'));
    const content = `${msisdn} ${text}`;
    if ((texts.get(key) ?? content) !== content) {
      yield { rule: 'a phone shows an attempt once', id, says: `two texts under one key, ${key}` };
    }
    texts.set(key, content);
    const job = jobs.get(id);
    if (job !== undefined && Number(key.slice(id.length + 1)) > (job.record?.attempt ?? 1)) {
      yield {
        rule: 'a phone shows an attempt once',
        id,
        says: `a text for an attempt that never was: ${key}`,
      };
    }
  }
};

/**
 * An equal request must have met the first one, which is joined for its TimeOut and a minute more,
 * also after its end.
 */
const joinedForMs = 60_000;

const repeatsJoin: Check = function* ({ jobs, timeline, journal }) {
  const groups = new Map<string, FinalJob[]>();
  const clientsOwn = new Set(journal.map(({ apTransId }) => apTransId));
  for (const job of jobs.values()) {
    if (clientsOwn.has(job.apTransId))
      groups.set(job.apTransId, [...(groups.get(job.apTransId) ?? []), job]);
  }
  const firstOf = (id: string, events: readonly string[]): number | undefined =>
    timeline.get(id)?.find(({ event }) => events.includes(event))?.at;
  for (const same of groups.values()) {
    for (const one of same) {
      const opened = firstOf(one.id, ['added', 'waiting']);
      for (const other of same) {
        const added = firstOf(other.id, ['added', 'waiting']);
        if (one === other || opened === undefined || added === undefined) continue;
        if (added > opened && added < opened + joinedForMs) {
          const says = `an equal request became ${other.id} soon after this one`;
          yield { rule: 'a repeated request joins the first one', id: one.id, says };
        }
      }
    }
  }
};

export const phoneChecks: readonly Check[] = [phones, repeatsJoin];
