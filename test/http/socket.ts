/** HTTP byte by byte: what no client library would send, and what the server says to it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { readAnswer, type WireAnswer } from './wire.ts';

export interface Connection {
  readonly socket: Socket;
  /** Resolves when the server has ended the connection. */
  readonly closed: Promise<void>;
  /** Complete answers so far, each of them checked. */
  answers(): readonly RawAnswer[];
  /** Waits for so many complete answers. */
  answered(count?: number): Promise<readonly RawAnswer[]>;
}

export interface RawAnswer extends WireAnswer {
  readonly headers: Readonly<Record<string, string>>;
}

const readRawAnswer = (head: string, text: string): RawAnswer => {
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const [, code] = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine) ?? [];
  return { ...readAnswer(Number(code), headers['content-type'], text), headers };
};

/** Answers in the order in which they came; an unfinished one at the end is left out. */
const readAnswers = (received: Buffer): readonly RawAnswer[] => {
  const answers: RawAnswer[] = [];
  let rest = received;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return answers;
    const head = rest.subarray(0, end).toString('latin1');
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? Number.NaN);
    if (/^HTTP\/1\.1 100 /.test(head)) {
      rest = rest.subarray(end + 4);
      continue;
    }
    expect(length, `Content-Length of ${head}`).toBeGreaterThan(0);
    const body = rest.subarray(end + 4, end + 4 + length);
    if (body.length < length) return answers;
    answers.push(readRawAnswer(head, body.toString('utf8')));
    rest = rest.subarray(end + 4 + length);
  }
};

const open = new Set<Socket>();

/** For the end of a test file: whatever it left open. */
export const closeConnections = (): void => {
  for (const socket of open) socket.destroy();
};

/**
 * @param options `allowHalfOpen` for a client that goes on when the server has said its last word.
 */
export const connectTo = async (
  url: string,
  options: { allowHalfOpen?: boolean } = {},
): Promise<Connection> => {
  const { hostname, port } = new URL(url);
  const socket = connect({ ...options, port: Number(port), host: hostname });
  open.add(socket);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A reset is what the server may do to whoever goes on sending.
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      open.delete(socket);
      resolve();
    });
  });
  await once(socket, 'connect');
  const answers = () => readAnswers(Buffer.concat(chunks));
  return {
    socket,
    closed,
    answers,
    answered: (count = 1) =>
      vi.waitFor(
        () => {
          const found = answers();
          if (found.length < count)
            throw new Error(`${found.length} of ${count} answers have come`);
          return found;
        },
        { timeout: 20_000, interval: 5 },
      ),
  };
};

/** Sends bytes on a connection of their own. @returns The one answer. */
export const exchange = async (
  url: string,
  ...bytes: readonly (string | Uint8Array)[]
): Promise<RawAnswer> => {
  const { socket, answered } = await connectTo(url);
  for (const part of bytes) socket.write(part);
  const [answer, ...others] = await answered();
  socket.destroy();
  expect(others).toEqual([]);
  if (answer === undefined) throw new Error('No answer');
  return answer;
};

/** The head of a POST with JSON; each header as a whole line. */
export const postHead = (path: string, ...headers: readonly string[]): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: test',
    'Content-Type: application/json',
    ...headers,
    '',
    '',
  ].join('\r\n');

/** A complete POST. */
export const post = (path: string, body: unknown, ...headers: readonly string[]): string => {
  const text = JSON.stringify(body);
  return `${postHead(path, `Content-Length: ${Buffer.byteLength(text)}`, ...headers)}${text}`;
};

/**
 * Sends the same piece over and over until so much is sent or the server has had enough. A short
 * rest after each piece leaves the server, which lives in the same process, time to say so.
 *
 * @returns How much was sent.
 */
export const flood = async (socket: Socket, piece: Buffer, totalBytes: number): Promise<number> => {
  let sent = 0;
  while (sent < totalBytes && socket.writable) {
    socket.write(piece);
    sent += piece.length;
    await delay(1);
  }
  return sent;
};
