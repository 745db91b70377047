/**
 * Ends connections whose clients do not read their answers, or do not close after the server has.
 *
 * Node's timeouts watch only requests. Silence alone means nothing, because a caller may wait for a
 * person for minutes. What counts is data that is ready to be sent and is not read. A connection
 * that the server has ended stays open until the client ends its half, so that the last answer is
 * not lost.
 */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

interface OpenSockets {
  readonly all: ReadonlySet<Socket>;
  close(): void;
}

const lookEveryMs = 1000;

/**
 * Watches every connection of a server from now on.
 *
 * @param event `connection`, or `secureConnection` with TLS.
 * @param timeoutMs Time for which an answer may lie unread, and that a client may take to close.
 */
export const endUnreadAnswers = (
  server: EventEmitter,
  event: 'connection' | 'secureConnection',
  timeoutMs: number,
): OpenSockets => {
  const all = new Set<Socket>();
  const unread = new Map<Socket, { readonly sent: number; readonly looks: number }>();
  const every = Math.min(lookEveryMs, timeoutMs);
  const maxLooks = Math.ceil(timeoutMs / every);

  server.on(event, (socket: Socket) => {
    all.add(socket);
    socket.once('close', () => {
      all.delete(socket);
      unread.delete(socket);
    });
  });
  // Counts checks and not time: while this process is busy, clients cannot read.
  const timer = setInterval(() => {
    for (const socket of all) {
      if (socket.writableLength === 0 && !socket.writableEnded) {
        unread.delete(socket);
        continue;
      }
      // Node's bytesWritten includes what is still queued here.
      const sent = socket.bytesWritten - socket.writableLength;
      const before = unread.get(socket);
      const looks = before?.sent === sent ? before.looks + 1 : 0;
      if (looks >= maxLooks) socket.destroy();
      else unread.set(socket, { sent, looks });
    }
  }, every);
  timer.unref();

  return { all, close: () => clearInterval(timer) };
};
