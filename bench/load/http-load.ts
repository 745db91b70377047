/**
 * A closed loop over HTTP, in a process of its own: so many requests in flight, the next one as
 * soon as one is answered.
 *
 * Each request is the template with `{{n}}` replaced by a number of ten digits that never repeats,
 * which keeps its length.
 */
import { createHistogram } from 'node:perf_hooks';
import { serveParent } from '../harness/program.ts';
import type { HttpLoad, HttpLoadResult } from './http-load-client.ts';
import { openLine } from './line.ts';
import { uniqueNumber } from './requests.ts';

const inChunks = async <T>(count: number, size: number, make: () => Promise<T>): Promise<T[]> => {
  const made: T[] = [];
  while (made.length < count) {
    made.push(
      ...(await Promise.all(Array.from({ length: Math.min(size, count - made.length) }, make))),
    );
  }
  return made;
};

/** Connecting a thousand at once would overflow the listener's backlog. */
const connectAtOnce = 100;

const run = async (load: HttpLoad): Promise<HttpLoadResult> => {
  const url = new URL(load.url);
  const [before = '', after = '', more] = load.template.split('{{n}}');
  if (more !== undefined || !load.template.includes('{{n}}'))
    throw new Error('A template has {{n}} once');
  const length = Buffer.byteLength(before + after) + uniqueNumber().length;
  const head = [
    `POST ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    ...(load.headers ?? ['Content-Type: application/json']),
    `Content-Length: ${length}`,
    '',
    Buffer.from(before).toString('latin1'),
  ].join('\r\n');
  const tail = Buffer.from(after).toString('latin1');
  const histogram = createHistogram();
  const lines = await inChunks(load.inFlight, connectAtOnce, () => openLine(url));
  let started = 0;
  let failures = 0;
  let firstFailure: string | undefined;
  const begin = performance.now();
  const until = begin + (load.durationMs ?? Number.POSITIVE_INFINITY);
  const most = load.count ?? Number.POSITIVE_INFINITY;
  let last = begin;
  await Promise.all(
    lines.map(async (line) => {
      while (started < most && last < until) {
        started += 1;
        const sent = performance.now();
        const answer = await line.send(`${head}${uniqueNumber()}${tail}`);
        last = performance.now();
        histogram.record(Math.max(1, Math.round((last - sent) * 1000)));
        if (answer.status === (load.success ?? 200)) continue;
        failures += 1;
        firstFailure ??= `${answer.status} ${answer.body.slice(0, 300)}`;
      }
    }),
  );
  for (const line of lines) line.end();
  const seconds = (last - begin) / 1000;
  return {
    count: started,
    seconds,
    perSecond: started / seconds,
    p50Ms: histogram.percentile(50) / 1000,
    p99Ms: histogram.percentile(99) / 1000,
    maxMs: histogram.max / 1000,
    failures,
    ...(firstFailure !== undefined && { firstFailure }),
  };
};

serveParent(run);
