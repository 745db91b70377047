/**
 * Which transactions of a shard have ended, by BullMQ's event streams, since a position in them.
 *
 * The streams tell of an end whoever caused it: a worker, a cancel, a job that was too often taken by workers that died.
 */
import { eventsArguments, eventsScript, type Read, readAnswer } from '../history/events.ts';
import type { ShardKeys } from '../history/keys.ts';
import type { EventPosition } from '../history/position.ts';
import type { RedisClient } from '../redis/connect.ts';

export interface Ended extends Read {
  readonly ids: readonly string[];
}

const endedScript = `${eventsScript(`
  return (event == 'completed' or event == 'failed') and id`)}
for _, id in ipairs(ids) do found[#found + 1] = id end
return found`;

export const readEnded = async (
  redis: RedisClient,
  keys: ShardKeys,
  since: EventPosition,
): Promise<Ended> => {
  const [streams, from] = eventsArguments(keys, since);
  const { rest, ...read } = readAnswer(await redis.eval(endedScript, 2, ...streams, ...from));
  return { ...read, ids: rest.map(String) };
};
