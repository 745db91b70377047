/**
 * Open and closed loops over HTTP in a process of its own. An open loop sends when a request is
 * due, because people do not wait for each other; only that shows what a service does with more
 * than it can take.
 *
 * Latency counts from the moment a request is handed to its socket. What could not be sent because
 * every connection was waiting is counted, not measured.
 */
import { connect, type Socket } from 'node:net';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { serveParent } from '../../bench/harness/program.ts';
import { uniqueNumber } from '../../bench/load/requests.ts';
import { busyFault } from '../../src/http/admission.ts';
import type { Kind, Latency, Load, LoadResult, Seen } from './load.ts';

interface Tally {
  readonly served: RecordableHistogram;
  readonly refused: RecordableHistogram;
  readonly faults: Record<string, number>;
  broken: number;
}

const newTally = (): Tally => ({
  served: createHistogram(),
  refused: createHistogram(),
  faults: {},
  broken: 0,
});

const latencyOf = (histogram: RecordableHistogram): Latency =>
  histogram.count === 0
    ? { count: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 }
    : {
        count: histogram.count,
        p50Ms: histogram.percentile(50) / 1000,
        p99Ms: histogram.percentile(99) / 1000,
        maxMs: histogram.max / 1000,
      };

const seenBy = ({ served, refused, faults, broken }: Tally): Seen => ({
  served: latencyOf(served),
  refused: latencyOf(refused),
  faults,
  broken,
});

type Answered = (answer: { readonly status: number; readonly body: string } | undefined) => void;

/**
 * A connection with at most one request in flight; a new socket when the server has ended the last
 * one.
 */
interface Line {
  /**
   * Resolves when the server has taken the connection: the system connects many more than it has
   * taken.
   */
  connect(): Promise<void>;
  send(bytes: string, answered: Answered): void;
  end(): void;
}

const createLine = (url: URL): Line => {
  let socket: Socket | undefined;
  let received = '';
  let usedAt = 0;
  let settle: Answered | undefined;
  const done = (answer: Parameters<Answered>[0]): void => {
    const answered = settle;
    settle = undefined;
    received = '';
    usedAt = performance.now();
    answered?.(answer);
  };
  const end = (): void => {
    const last = socket;
    socket = undefined;
    last?.destroy();
  };
  const open = (): Socket => {
    const opened = connect({ host: url.hostname, port: Number(url.port) });
    opened.setNoDelay(true);
    opened.setEncoding('latin1');
    opened.on('data', (chunk: string) => {
      received += chunk;
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received.slice(0, end))?.[1]);
      if (received.length < end + 4 + length) return;
      done({ status: Number(received.slice(9, 12)), body: received.slice(end + 4) });
    });
    opened.on('error', () => undefined);
    opened.on('close', () => {
      if (socket !== opened) return;
      socket = undefined;
      done(undefined);
    });
    return opened;
  };
  return {
    connect: () =>
      new Promise((resolve) => {
        socket = open();
        settle = () => resolve();
        socket.write(`GET /livez HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`);
      }),
    send: (bytes, answered) => {
      if (performance.now() - usedAt > idleMs) end();
      settle = answered;
      socket ??= open();
      socket.write(bytes, 'latin1');
    },
    end,
  };
};

/**
 * Servers end connections that were idle for a while; a client that waits less long is never in
 * their way.
 */
const idleMs = 2000;

/** How many ids are kept for later requests. */
const keptIds = 2000;

const run = async (load: Load): Promise<LoadResult> => {
  const url = new URL(load.url);
  const tallies = new Map(load.kinds.map(({ name }) => [name, newTally()]));
  const ids: string[] = [];
  const lately: string[] = [];
  const signed: string[] = [];

  /** @returns Undefined while there is no id for it. */
  const bytesOf = ({ path, template }: Kind): string | undefined => {
    let body = template.replaceAll('{{n}}', uniqueNumber());
    if (body.includes('{{any}}')) {
      const id = lately[Math.floor(Math.random() * lately.length)];
      if (id === undefined) return undefined;
      body = body.replace('{{any}}', id);
    }
    if (body.includes('{{signed}}')) {
      const id = signed.shift();
      if (id === undefined) return undefined;
      body = body.replace('{{signed}}', id);
    }
    const text = Buffer.from(body).toString('latin1');
    return `POST ${path} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
  };

  const note = (kind: Kind, sentAt: number, answer: Parameters<Answered>[0]): void => {
    const tally = tallies.get(kind.name);
    if (tally === undefined) return;
    const micros = Math.max(1, Math.round((performance.now() - sentAt) * 1000));
    if (answer === undefined) {
      tally.broken += 1;
    } else if (answer.status === 200) {
      tally.served.record(micros);
      const id = /"MSSP_TransID":"(\w+)"/.exec(answer.body)?.[1];
      if (id === undefined) return;
      if (load.wantsIds) ids.push(id);
      if (lately.push(id) > keptIds) lately.shift();
      if (answer.body.includes('"MSS_Signature"') && signed.push(id) > keptIds) signed.shift();
    } else if (answer.body.includes(busyFault.detail)) {
      tally.refused.record(micros);
    } else {
      const [, detail] = /"Detail":"([^"]*)"/.exec(answer.body) ?? [];
      const [, code] = /"Value":"(_\d+)"/.exec(answer.body) ?? [];
      const words = `${code} ${detail}`;
      tally.faults[words] = (tally.faults[words] ?? 0) + 1;
    }
  };

  const total = load.kinds.reduce((sum, { weight }) => sum + weight, 0);
  const pick = (): Kind | undefined => {
    let left = Math.random() * total;
    return load.kinds.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
  };

  const lines = Array.from({ length: load.connections }, () => createLine(url));
  // A listener takes its time when thousands come at once, and this is not about connecting.
  for (let from = 0; from < lines.length; from += 100) {
    await Promise.all(lines.slice(from, from + 100).map((line) => line.connect()));
  }
  const idle = [...lines];
  let sent = 0;
  let unsent = 0;
  let inFlight = 0;
  /** @returns False when nothing could be sent. */
  const sendNext = (answered: () => void): boolean => {
    const [line] = idle;
    if (line === undefined) {
      unsent += 1;
      return false;
    }
    const kind = pick();
    const bytes = kind && bytesOf(kind);
    if (kind === undefined || bytes === undefined) return false;
    // In turn, so that none is idle for long.
    idle.shift();
    sent += 1;
    inFlight += 1;
    const sentAt = performance.now();
    line.send(bytes, (answer) => {
      inFlight -= 1;
      idle.push(line);
      note(kind, sentAt, answer);
      answered();
    });
    return true;
  };

  const begin = performance.now();
  const elapsed = (): number => performance.now() - begin;
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
  if (load.perSecond === undefined) {
    const again = (): void => {
      if (elapsed() < load.durationMs && !sendNext(again)) setTimeout(again, 1);
    };
    for (const _ of lines) again();
    while (elapsed() < load.durationMs) await pause();
  } else {
    let due = 0;
    while (elapsed() < load.durationMs) {
      const wanted = (elapsed() / 1000) * load.perSecond;
      for (; due < wanted; due += 1) sendNext(() => undefined);
      await pause();
    }
  }
  const seconds = elapsed() / 1000;
  while (inFlight > 0) await pause();
  for (const line of lines) line.end();
  return {
    seconds,
    sent,
    unsent,
    kinds: Object.fromEntries([...tallies].map(([name, tally]) => [name, seenBy(tally)])),
    ids,
  };
};

serveParent(run);
