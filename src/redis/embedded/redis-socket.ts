/** Questions to the socket of a private Redis, each on a plain connection. */
import { connect } from 'node:net';

/**
 * Sends one inline command (Redis serialization protocol) and resolves with the first line of the
 * answer, without its line end, or with undefined when there was none. While Redis loads its file
 * it answers `-LOADING …`.
 */
export async function ask(socketPath: string, command: string): Promise<string | undefined> {
  const answer = await askAll(socketPath, command);
  const end = answer.indexOf('\r\n');
  return end < 0 ? undefined : answer.slice(0, end);
}

/** Sends one inline command, like {@link ask}. @returns The whole answer, unchanged. */
export function askAll(socketPath: string, command: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    let answer = '';
    // The caller asks again.
    socket.setTimeout(1000, () => socket.destroy());
    socket.on('connect', () => socket.write(`${command}\r\nQUIT\r\n`));
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}

/** @returns True when nothing serves this socket, or its server ended within `timeoutMs`. */
export function waitUntilClosed(socketPath: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const timeout = setTimeout(() => {
      resolve(false);
      socket.destroy();
    }, timeoutMs);
    // Nothing listens: 'close' follows.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timeout);
      resolve(true);
    });
    socket.resume();
  });
}
