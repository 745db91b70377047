/** A service whose subscribers are a crowd of simulated people who let it ring. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SignatureRecord } from '../../machines/record.ts';
import { recordIn } from '../../src/transactions/contract.ts';
import { type ParaphProcess, startParaph } from '../harness/paraph.ts';
import type { BenchRedis } from '../harness/redis.ts';
import { type BenchContext, own } from '../harness/scenario.ts';
import { median } from '../harness/statistics.ts';
import type { HttpLoader } from '../load/http-load-client.ts';
import { signBody } from '../load/requests.ts';
import { signaturesKey } from './retained.ts';

/** Ten digits after the country code: longer than any test number, so no number has two owners. */
const crowd = { msisdn: '+411000000000', through: '+419999999999' };
export const maxTimeoutSeconds = 3600;
const configuration = {
  subscribers: [{ ...crowd, sim: { device: { kind: 'simulated', sign: 'never-answers' } } }],
  protocol: { maxTimeoutSeconds },
  queue: { maxWaiting: 10_000_000 },
};

export interface CrowdService {
  readonly redis: BenchRedis;
  readonly api: ParaphProcess;
  readonly worker: ParaphProcess;
  /** How many sleep until somebody answers, or their deadline. */
  pending(): Promise<number>;
  /** The same, and those whose deadline has passed meanwhile. */
  rung(): Promise<number>;
}

export const startService = async (
  context: BenchContext,
  masterKey: string,
): Promise<CrowdService> => {
  const redis = await context.redis();
  const start = (part: 'api' | 'worker'): Promise<ParaphProcess> =>
    own(context, startParaph({ part, redisUrl: redis.url, configuration, masterKey }));
  const api = await start('api');
  const worker = await start('worker');
  const pending = (): Promise<number> => redis.client.zcard(signaturesKey('delayed'));
  const lapsed = (): Promise<number> => redis.client.zcard(signaturesKey('failed'));
  return { redis, api, worker, pending, rung: async () => (await lapsed()) + (await pending()) };
};

/** A request to a phone of its own: the number of the request is in the MSISDN. */
const templateFor = (timeoutSeconds: number): string =>
  JSON.stringify(signBody({ mode: 'asynch', msisdn: '+41{{n}}', timeoutSeconds })).replace(
    '"B{{n}}"',
    '"B1"',
  );

export const signUrl = ({ api }: CrowdService): string => `${api.url}/rest/service/sign`;

/** Rings so many phones. @returns Seconds from the first request to the last ring. */
export const ring = async (
  loader: HttpLoader,
  service: CrowdService,
  count: number,
  timeoutSeconds: number,
): Promise<number> => {
  const before = await service.rung();
  const begin = performance.now();
  await loader.run({
    url: signUrl(service),
    template: templateFor(timeoutSeconds),
    inFlight: 64,
    count,
  });
  while ((await service.rung()) < before + count) await delay(20);
  return (performance.now() - begin) / 1000;
};

/** How late transactions ended whose deadline passed; a sample of those that failed. */
const lateness = async ({
  redis: { client },
}: CrowdService): Promise<{ p50Ms: number; p99Ms: number }> => {
  const ids = (await client.zrandmember(signaturesKey('failed'), 2000)) ?? [];
  const late = await Promise.all(
    ids.map(async (id) => {
      const [progress, finishedOn] = await client.hmget(
        signaturesKey(id),
        'progress',
        'finishedOn',
      );
      const record = recordIn(JSON.parse(progress ?? '{}')) as SignatureRecord | undefined;
      return Number(finishedOn) - (record?.deadline ?? Number.NaN);
    }),
  );
  const sorted = late.toSorted((a, b) => a - b);
  return { p50Ms: median(late), p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN };
};

/** Waits until all deadlines have passed and every transaction has ended. */
export const untilLapsed = async (
  service: CrowdService,
  say: BenchContext['say'],
): Promise<{ p50Ms: number; p99Ms: number }> => {
  say(`${await service.pending()} still pending; waiting for their deadlines`);
  while ((await service.pending()) > 0) await delay(200);
  // The last of them are still on their way through the worker.
  for (const list of ['wait', 'active']) {
    while ((await service.redis.client.llen(signaturesKey(list))) > 0) await delay(50);
  }
  return lateness(service);
};
