/**
 * One HTTP connection with at most one request in flight, in a few lines over a socket: `node:http`
 * costs more per request than a bare route does, and would take that from both sides of a
 * comparison.
 */
import { connect } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface Line {
  /** Writes the request as it is. Rejects when the connection ends. */
  send(request: string): Promise<Answer>;
  end(): void;
}

const lineEnd = '\r\n';
const headEnd = `${lineEnd}${lineEnd}`;

/** @returns Undefined while chunks are missing. */
const joinChunks = (received: string, start: number): string | undefined => {
  let body = '';
  for (let at = start; ; ) {
    const sizeEnd = received.indexOf(lineEnd, at);
    if (sizeEnd < 0) return undefined;
    const size = Number.parseInt(received.slice(at, sizeEnd), 16);
    const chunk = sizeEnd + lineEnd.length;
    if (received.length < chunk + size + lineEnd.length) return undefined;
    if (size === 0) return body;
    body += received.slice(chunk, chunk + size);
    at = chunk + size + lineEnd.length;
  }
};

/** The body of a complete answer: it has a length or is chunked. */
const bodyOf = (received: string): string | undefined => {
  const end = received.indexOf(headEnd);
  if (end < 0) return undefined;
  const start = end + headEnd.length;
  const length = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, end))?.[1];
  if (length === undefined) return joinChunks(received, start);
  return received.length - start < Number(length) ? undefined : received.slice(start);
};

export const openLine = (url: URL): Promise<Line> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: url.hostname, port: Number(url.port) });
    socket.setNoDelay(true);
    // One character for each byte: lengths are counted in bytes.
    socket.setEncoding('latin1');
    let received = '';
    let settle: ((answer: Answer) => void) | undefined;
    let fail: ((error: Error) => void) | undefined = reject;
    socket.on('data', (chunk: string) => {
      received += chunk;
      const body = bodyOf(received);
      if (body === undefined || settle === undefined) return;
      const status = Number(received.slice(9, 12));
      received = '';
      const done = settle;
      settle = undefined;
      done({ status, body });
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
