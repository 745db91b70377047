/**
 * A closed loop over HTTP, in a process of its own: so many requests in flight, the next one as
 * soon as one is answered.
 *
 * Its client is a few lines over a socket, for one request in flight on each connection.
 * `node:http` costs more per request than a bare route does; it would take the processor from both
 * sides of a comparison and pull every ratio towards one.
 *
 * Each request is the template with `{{n}}` replaced by a number of ten digits that never repeats,
 * which keeps its length.
 */
import { connect, type Socket } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { serveParent } from '../harness/program.ts';
import type { HttpLoad, HttpLoadResult } from './http-load-client.ts';
import { uniqueNumber } from './requests.ts';

/** One connection with at most one request in flight. */
interface Line {
  /** @returns Status and body of the answer. */
  send(request: string): Promise<{ readonly status: number; readonly body: string }>;
  end(): void;
}

const headEnd = '\r\n\r\n';
const lastChunk = '0\r\n\r\n';

/** An answer when it is complete: its body has a length or is chunked. */
const readAnswer = (received: string): { status: number; body: string } | undefined => {
  const end = received.indexOf(headEnd);
  if (end < 0) return undefined;
  const start = end + headEnd.length;
  const length = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, end))?.[1];
  const complete =
    length === undefined ? received.endsWith(lastChunk) : received.length - start >= Number(length);
  if (!complete) return undefined;
  return { status: Number(received.slice(9, 12)), body: received.slice(start) };
};

const openLine = (url: URL): Promise<Line> =>
  new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: url.hostname, port: Number(url.port) });
    socket.setNoDelay(true);
    // One character for each byte: lengths are counted in bytes.
    socket.setEncoding('latin1');
    let received = '';
    let settle: ((answer: { status: number; body: string }) => void) | undefined;
    let fail: ((error: Error) => void) | undefined = reject;
    socket.on('data', (chunk: string) => {
      received += chunk;
      const answer = readAnswer(received);
      if (answer === undefined || settle === undefined) return;
      received = '';
      const done = settle;
      settle = undefined;
      done(answer);
    });
    const broken = (error?: Error): void => fail?.(error ?? new Error('The connection was closed'));
    socket.on('error', broken);
    socket.on('close', () => broken());
    socket.on('connect', () => {
      fail = undefined;
      resolve({
        send: (request) =>
          new Promise((answered, failed) => {
            settle = answered;
            fail = failed;
            socket.write(request, 'latin1');
          }),
        end: () => {
          fail = undefined;
          socket.destroy();
        },
      });
    });
  });

const inChunks = async <T>(count: number, size: number, make: () => Promise<T>): Promise<T[]> => {
  const made: T[] = [];
  while (made.length < count) {
    made.push(...(await Promise.all(Array.from({ length: Math.min(size, count - made.length) }, make))));
  }
  return made;
};

/** Connecting a thousand at once would overflow the listener's backlog. */
const connectAtOnce = 100;

const run = async (load: HttpLoad): Promise<HttpLoadResult> => {
  const url = new URL(load.url);
  const [before = '', after = '', more] = load.template.split('{{n}}');
  if (more !== undefined || !load.template.includes('{{n}}')) throw new Error('A template has {{n}} once');
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
