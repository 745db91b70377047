/**
 * Sends a shot on a connection of its own and reads what comes back, byte by byte, as no HTTP
 * client would let us.
 */
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Shot } from './shots.ts';

export interface RawAnswer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly text: string;
}

export interface Echo {
  /** Complete answers, in order; interim ones (1xx) left out. */
  readonly answers: readonly RawAnswer[];
  /** What was received and is no complete answer. */
  readonly rest: string;
  readonly elapsedMs: number;
  /** `answered`, or how the waiting ended without an answer. */
  readonly end: 'answered' | 'closed' | 'reset' | 'late' | 'refused';
}

const headEnd = '\r\n\r\n';

const readAnswers = (received: Buffer): Pick<Echo, 'answers' | 'rest'> => {
  const answers: RawAnswer[] = [];
  let rest = received;
  for (;;) {
    const end = rest.indexOf(headEnd);
    const head = rest.subarray(0, Math.max(end, 0)).toString('latin1');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    if (end < 0 || Number.isNaN(status)) return { answers, rest: rest.toString('latin1') };
    const bodyStart = end + headEnd.length;
    const length = status < 200 ? 0 : Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
    // A length that is missing makes NaN, which no body is as long as: it stays in the rest and is
    // looked at there.
    if (!(rest.length - bodyStart >= length)) return { answers, rest: rest.toString('latin1') };
    if (status >= 200) {
      answers.push({
        status,
        contentType: /^content-type: (.*)$/im.exec(head)?.[1],
        text: rest.subarray(bodyStart, bodyStart + length).toString('utf8'),
      });
    }
    rest = rest.subarray(bodyStart + length);
  }
};

/** @param patienceMs How long to wait for the first answer. */
export const fire = (url: string, { pieces, hangUp }: Shot, patienceMs: number): Promise<Echo> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const started = performance.now();
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    let received = Buffer.alloc(0);
    const settle = (end: Echo['end']): void => {
      clearTimeout(timer);
      socket.destroy();
      const { answers, rest } = readAnswers(received);
      resolve({
        answers,
        rest,
        elapsedMs: performance.now() - started,
        end: answers.length > 0 ? 'answered' : end,
      });
    };
    const timer = setTimeout(() => settle('late'), patienceMs);
    let connected = false;
    socket.on('error', () => settle(connected ? 'reset' : 'refused'));
    socket.on('close', () => settle('closed'));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (readAnswers(received).answers.length > 0) settle('answered');
    });
    socket.on('connect', () => {
      connected = true;
      const [first, ...others] = pieces;
      if (first !== undefined) socket.write(first);
      // Each on its own, so that the server really sees pieces.
      const next = (): void => {
        const piece = others.shift();
        if (piece !== undefined && socket.writable) {
          socket.write(piece);
          setImmediate(next);
        } else if (hangUp) socket.end();
      };
      setImmediate(next);
    });
  });
