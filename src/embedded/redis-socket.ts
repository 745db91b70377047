/**
 * What the owner of a private Redis asks its socket before any client exists: do you answer, is your file written, and are you
 * gone.
 *
 * A Redis client would do as much with reconnecting, queues and errors to silence; each question fits one plain connection.
 */
import { connect } from 'node:net';

/**
 * Sends one inline command and resolves with the first line of the answer, without its line end, or with undefined when
 * there was none, for whatever reason. While Redis loads its file it answers `-LOADING …`.
 *
 * Source: Redis serialization protocol, inline commands.
 */
export async function ask(socketPath: string, command: string): Promise<string | undefined> {
  const answer = await askAll(socketPath, command);
  const end = answer.indexOf('\r\n');
  return end < 0 ? undefined : answer.slice(0, end);
}

/** The same for an answer of several lines. @returns All of it, as it came; cut off when the server was. */
export function askAll(socketPath: string, command: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    let answer = '';
    // A server that accepts and says nothing is as good as none; the caller asks again.
    socket.setTimeout(1000, () => socket.destroy());
    socket.on('connect', () => socket.write(`${command}\r\nQUIT\r\n`));
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}

/**
 * Waits until whoever serves this socket has ended, by holding a connection to it that says nothing: no polling.
 *
 * @returns True at once when nobody serves it, true when its server ended within `timeoutMs`, else false.
 */
export function waitUntilClosed(socketPath: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const timeout = setTimeout(() => {
      resolve(false);
      socket.destroy();
    }, timeoutMs);
    // Nobody listens (no such file, or a file left by a server that was killed): 'close' follows.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timeout);
      resolve(true);
    });
    socket.resume();
  });
}
