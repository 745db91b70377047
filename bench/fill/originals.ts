/** One real signed and one real failed transaction, of which copies are made. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '../../src/redis/connect.ts';
import { signTemplate } from '../load/requests.ts';
import { type EndedKind, signaturesKey } from './retained.ts';

/** Test numbers: a robot with P-256, and a person who cancels. */
const numbers: Record<EndedKind, string> = { signed: '+41700092501', failed: '+41000092401' };
const patienceMs = 10_000;

/**
 * @param url Of an API with workers behind it.
 * @returns The id of a transaction that has ended as asked for.
 * @throws When it does not end within ten seconds.
 */
export const makeOriginal = async (
  url: string,
  redis: RedisClient,
  kind: EndedKind,
  prefix?: string,
): Promise<string> => {
  const body = signTemplate({ mode: 'asynch', msisdn: numbers[kind] }).replace(
    '{{n}}',
    `original-${kind}`,
  );
  const answer = await fetch(`${url}/rest/service/sign`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const text = await answer.text();
  const id = /"MSSP_TransID":"([^"]+)"/.exec(text)?.[1];
  if (answer.status !== 200 || id === undefined)
    throw new Error(`${answer.status} ${text.slice(0, 300)}`);
  const patience = AbortSignal.timeout(patienceMs);
  while ((await redis.hexists(signaturesKey(id, prefix), 'finishedOn')) === 0) {
    if (patience.aborted) throw new Error('The original did not end: do workers run?');
    await delay(20);
  }
  return id;
};
