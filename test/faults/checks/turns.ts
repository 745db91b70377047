/** Invariant: nobody waits for thousands of another application. */
import type { Check } from '../evidence.ts';
import { crowdMark } from '../operator.ts';

/** Of the crowd on one shard; a flood is many times as many. */
const mostBefore = 400;

const shardIn = (id: string): string => id.slice(0, 3);

const inTurn: Check = function* ({ journal, jobs, timeline }) {
  const firstOf = (id: string, event: string): number | undefined =>
    timeline.get(id)?.find((news) => news.event === event)?.at;
  const crowd = [...jobs.values()].filter(({ apTransId }) => apTransId.startsWith(crowdMark));
  if (crowd.length === 0) return;
  const taken = crowd.flatMap(({ id }) => {
    const at = firstOf(id, 'active');
    return at === undefined ? [] : [{ shard: shardIn(id), at }];
  });
  const clientsOwn = new Set(journal.map(({ apTransId }) => apTransId));
  for (const { id, apTransId } of jobs.values()) {
    const added = firstOf(id, 'waiting');
    const active = firstOf(id, 'active');
    if (!clientsOwn.has(apTransId) || added === undefined || active === undefined) continue;
    const before = taken.filter(
      ({ shard, at }) => shard === shardIn(id) && at > added && at < active,
    ).length;
    if (before <= mostBefore) continue;
    const says = `${before} requests of another application, which were there before it, were taken first`;
    yield { rule: 'applications are served in turn', id, says };
  }
};

export const turnChecks: readonly Check[] = [inTurn];
