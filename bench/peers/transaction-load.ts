/**
 * Whole transactions over HTTP, in a process of its own: so many in flight, each from its request
 * to the answer that carries its outcome, and the next one begins when one has ended.
 *
 * Where asking for an outcome does not wait for one, the first question comes when an outcome is
 * likely, as a considerate client would ask, and further ones after half of the time that has
 * passed. What is likely is learnt: an outcome that needed more than one question makes the next
 * ones later, one that was there makes them a little earlier.
 */
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { serveParent } from '../harness/program.ts';
import { openLine } from '../load/line.ts';
import type { TransactionLoad, TransactionLoadResult } from './transaction-load-client.ts';
import { type Dialect, dialects, type Request } from './transactions.ts';

/** How far one outcome moves the guess: towards what it took, or below what was enough. */
const towards = 0.1;
const below = 0.005;
/** Clients that ask in step would make a service work in bursts. */
const jitter = (): number => 0.75 + Math.random() / 2;
const leastWaitMs = 1;
/** Servers end connections that are idle for some seconds. */
const mostWaitMs = 2000;
const waitMs = (wanted: number): number => Math.min(Math.max(leastWaitMs, wanted), mostWaitMs);

/** For each work and number in flight: the rounds of one system go on from each other. */
const likelyMs = new Map<string, number>();

/** A transaction that never ends must not stop the whole run. */
const timeoutMs = 60_000;

const inMicroseconds = (ms: number): number => Math.max(1, Math.round(ms * 1000));

interface Seen {
  readonly signature: string;
  readonly statusRequests: number;
}

/** @returns The body. @throws For a status other than 2xx, and when the connection ends. */
type Ask = (request: Request) => Promise<string>;

const openAsk = async (url: URL): Promise<{ ask: Ask; end: () => void }> => {
  const line = await openLine(url);
  return {
    ask: async ({ method, path, body, headers = '' }) => {
      const about =
        body === undefined
          ? ''
          : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
      const head = `${method} ${path} HTTP/1.1\r\nHost: ${url.host}\r\n${about}${headers}\r\n`;
      const answer = await line.send(`${head}${body ?? ''}`);
      if (answer.status >= 200 && answer.status < 300) return answer.body;
      throw new Error(`${path} answered ${answer.status} ${answer.body.slice(0, 300)}`);
    },
    end: line.end,
  };
};

/** Asks until there is an outcome. */
const awaitOutcome = async (
  ask: Ask,
  dialect: Dialect,
  id: string,
  { work, inFlight }: TransactionLoad,
): Promise<Seen> => {
  const request = dialect.outcome(id);
  const kind = `${work} ${inFlight}`;
  const accepted = performance.now();
  const passedMs = (): number => performance.now() - accepted;
  if (!dialect.waits) await delay(waitMs((likelyMs.get(kind) ?? inFlight / 4) * jitter()));
  for (let statusRequests = 1; ; statusRequests += 1) {
    const signature = dialect.signatureOf(await ask(request));
    if (signature === undefined) {
      await delay(waitMs(passedMs() / 2));
      continue;
    }
    const guess = likelyMs.get(kind) ?? passedMs();
    likelyMs.set(
      kind,
      statusRequests === 1 ? guess * (1 - below) : guess + (passedMs() - guess) * towards,
    );
    return { signature, statusRequests };
  }
};

const run = async (load: TransactionLoad): Promise<TransactionLoadResult> => {
  const { system, work, url, inFlight, durationMs } = load;
  const dialect = dialects[work][system];
  const lines = await Promise.all(Array.from({ length: inFlight }, () => openAsk(new URL(url))));
  const accepting = createHistogram();
  const ending = createHistogram();
  const begin = performance.now();
  const until = begin + durationMs;
  let count = 0;
  let statusRequests = 0;
  let lastSignature = '';
  const loop = async ({ ask }: { readonly ask: Ask }): Promise<void> => {
    while (performance.now() < until) {
      const sent = performance.now();
      const id = dialect.idOf(await ask(dialect.accept()));
      const accepted = performance.now();
      const seen = await awaitOutcome(ask, dialect, id, load);
      const ended = performance.now();
      if (ended > until) return;
      count += 1;
      statusRequests += seen.statusRequests;
      lastSignature = seen.signature;
      accepting.record(inMicroseconds(accepted - sent));
      ending.record(inMicroseconds(ended - accepted));
    }
  };
  const late = new AbortController();
  try {
    await Promise.race([
      Promise.all(lines.map(loop)),
      delay(durationMs + timeoutMs, undefined, { signal: late.signal }).then(() => {
        throw new Error(`${system}: transactions did not end`);
      }),
    ]);
  } finally {
    late.abort();
    for (const line of lines) line.end();
  }
  if (count === 0) throw new Error(`${system}: no transaction ended within ${durationMs} ms`);
  return {
    count,
    perSecond: count / (durationMs / 1000),
    acceptP50Ms: accepting.percentile(50) / 1000,
    acceptP99Ms: accepting.percentile(99) / 1000,
    outcomeP50Ms: ending.percentile(50) / 1000,
    outcomeP99Ms: ending.percentile(99) / 1000,
    statusRequests: statusRequests / count,
    lastSignature,
  };
};

serveParent(run);
