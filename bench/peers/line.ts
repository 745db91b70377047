/**
 * One HTTP connection with at most one request in flight, in a few lines over a socket: what the
 * load costs is taken from both sides of a comparison, and `node:http` costs more than some of what
 * is measured.
 */
import { connect } from 'node:net';
import type { Request } from './transactions.ts';

export interface Line {
  /** @returns The body. @throws For a status other than 2xx, and when the connection ends. */
  ask(request: Request): Promise<string>;
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
  new Promise((opened, refused) => {
    const socket = connect({ host: url.hostname, port: Number(url.port) });
    socket.setNoDelay(true);
    // One character for each byte: lengths are counted in bytes, and all answers are ASCII.
    socket.setEncoding('latin1');
    let received = '';
    let answered: ((body: string) => void) | undefined;
    let failed: ((error: Error) => void) | undefined = refused;
    socket.on('data', (chunk: string) => {
      received += chunk;
      const body = bodyOf(received);
      if (body === undefined) return;
      const head = received.slice(0, received.indexOf(lineEnd));
      received = '';
      const done = answered;
      const fail = failed;
      answered = undefined;
      failed = undefined;
      if (/^HTTP\/1\.1 2/.test(head)) done?.(body);
      else fail?.(new Error(`${head} ${body.slice(0, 300)}`));
    });
    const broken = (error?: Error): void => failed?.(error ?? new Error('The connection was closed'));
    socket.on('error', broken);
    socket.on('close', () => broken());
    socket.on('connect', () => {
      failed = undefined;
      opened({
        ask: ({ method, path, body, headers = '' }) =>
          new Promise((resolve, reject) => {
            answered = resolve;
            failed = reject;
            const about =
              body === undefined
                ? ''
                : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
            const head = `${method} ${path} HTTP/1.1\r\nHost: ${url.host}\r\n${about}${headers}\r\n`;
            socket.write(`${head}${body ?? ''}`);
          }),
        end: () => {
          failed = undefined;
          socket.destroy();
        },
      });
    });
  });
