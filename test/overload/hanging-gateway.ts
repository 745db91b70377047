/**
 * A text gateway that takes requests and never answers, while one application sends texts and
 * another signs.
 *
 * The other application is measured alone, then beside a thousand texts that hang, and last it is
 * measured how soon the texts are out once the gateway answers.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startParaph } from '../../bench/harness/paraph.ts';
import { type BenchRedis, startBenchRedis } from '../../bench/harness/redis.ts';
import type { Table } from '../../bench/harness/scenario.ts';
import { uniqueNumber } from '../../bench/load/requests.ts';
import { allEnd, endsOf } from './ends.ts';
import type { Latency, Load, LoadResult, startLoader } from './load.ts';
import { signKind, textKind } from './requests.ts';

const texts = 1000;
/** Clients that send the texts, one after the other. */
const senders = 50;
/** The goal is what it is alone. The texts are work, too, and the machine is shared. */
const allowedFactor = 2;
const allowedMs = 20;

const startHangingGateway = async () => {
  const hanging = new Set<ServerResponse>();
  let asked = 0;
  let answers = false;
  const server = createServer((request, response) => {
    asked += 1;
    request.resume();
    if (answers) response.writeHead(204).end();
    else hanging.add(response);
    response.on('close', () => hanging.delete(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/send`,
    asked: (): number => asked,
    answer: (): void => {
      answers = true;
      for (const response of hanging) response.writeHead(204).end();
    },
    stop: async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
    },
  };
};

/** @returns Ids of the texts that were accepted, which is all of them on a sound service. */
const sendTexts = async (url: string): Promise<readonly string[]> => {
  const ids: string[] = [];
  const send = async (): Promise<void> => {
    const body = textKind.template.replace('{{n}}', uniqueNumber());
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}${textKind.path}`, { method: 'POST', headers, body });
    const id = /"MSSP_TransID":"(\w+)"/.exec(await response.text())?.[1];
    if (id !== undefined) ids.push(id);
  };
  const sendSome = async (): Promise<void> => {
    for (let sent = 0; sent < texts / senders; sent += 1) await send();
  };
  await Promise.all(Array.from({ length: senders }, sendSome));
  return ids;
};

const seen = ({ kinds }: LoadResult) => {
  const { synch } = kinds;
  if (synch === undefined) throw new Error('Nothing was sent');
  return synch;
};

export const measureHangingGateway = async (options: {
  readonly loader: Awaited<ReturnType<typeof startLoader>>;
  readonly durationMs: number;
  readonly say: (line: string) => void;
  /** Takes what is to be stopped in the end. */
  readonly started: (stop: () => Promise<unknown>) => void;
}) => {
  const { loader, durationMs, say, started } = options;
  const redis: BenchRedis = await startBenchRedis();
  started(redis.stop);
  const gateway = await startHangingGateway();
  started(gateway.stop);
  const configuration = { otp: { gateway: { kind: 'webhook', url: gateway.url } } };
  const worker = await startParaph({ part: 'worker', redisUrl: redis.url, configuration });
  started(worker.stop);
  const api = await startParaph({ part: 'api', redisUrl: redis.url, configuration });
  started(api.stop);

  const load = (changes: Partial<Load>): Promise<LoadResult> =>
    loader.ask({
      url: api.url,
      kinds: [signKind('synch', 1)],
      durationMs,
      connections: 4,
      wantsIds: false,
      ...changes,
    });
  await load({ connections: 64, durationMs: 3000 });
  say('one application alone');
  const alone = seen(await load({}));
  say(`${texts} texts of another, to a gateway that hangs`);
  const sent = await sendTexts(api.url);
  const beside = seen(await load({}));
  const askedMeanwhile = gateway.asked();
  say('the gateway answers');
  gateway.answer();
  const backAt = Date.now();
  const ended = await allEnd(redis, 120_000);
  const ends = await endsOf(redis, sent);
  return {
    alone,
    beside,
    sent: sent.length,
    askedMeanwhile,
    ended,
    ends,
    backMs: ends.lastAt - backAt,
  };
};

export type HangingGateway = Awaited<ReturnType<typeof measureHangingGateway>>;

export const judgeHangingGateway = (measured: HangingGateway) => {
  const { alone, beside, sent, askedMeanwhile, ended, ends, backMs } = measured;
  const ms = ({ count, p50Ms, p99Ms, maxMs }: Latency) => [count, p50Ms, p99Ms, maxMs];
  const refused = beside.refused.count;
  const faults = Object.entries(beside.faults);
  const table: Table = {
    title: `A gateway that hangs: ${sent} texts of one application, ${askedMeanwhile} tries to send one; another application signs`,
    columns: ['what', 'count', 'p50 ms', 'p99 ms', 'max ms'],
    rows: [
      ['another application, alone', ...ms(alone.served)],
      ['another application, beside the texts', ...ms(beside.served)],
      ['texts: all ended, after the gateway was back', ends.signed, '-', '-', backMs],
    ],
  };
  const isAsAlone = beside.served.p50Ms <= allowedFactor * alone.served.p50Ms + allowedMs;
  const problems = [
    ...(sent === texts ? [] : [`${texts - sent} texts were not accepted`]),
    ...(isAsAlone ? [] : ['a hanging gateway holds up another application (p50)']),
    ...(refused === 0
      ? []
      : [`beside a hanging gateway ${refused} requests of another were refused`]),
    ...faults.map(
      ([words, count]) => `beside a hanging gateway ${count} requests were answered ${words}`,
    ),
    ...(ended && ends.missing.length === 0
      ? []
      : ['texts have not ended though the gateway is back']),
    ...Object.entries(ends.failed).map(([reason, count]) => `${count} texts ended with ${reason}`),
  ];
  return { table, problems, ratio: beside.served.p50Ms / alone.served.p50Ms };
};
