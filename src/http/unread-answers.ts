/**
 * Ends connections whose clients do not read what they asked for, or do not hang up after the server's last word.
 *
 * An answer that nobody reads stays in this process, and neither of Node's own clocks watches it: they are about requests.
 * A caller may rightly be silent for minutes while a person thinks, so silence alone says nothing either. What counts is
 * that something lies ready to be sent and none of it has gone for a while.
 *
 * A connection that the server has ended stays open until the client ends its half too, so that the last answer is not
 * lost on its way. No clock of Node's watches that either.
 */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

export interface OpenSockets {
  readonly all: ReadonlySet<Socket>;
  close(): void;
}

const lookEveryMs = 1000;

/**
 * Watches every connection of a server from now on.
 *
 * @param event Of the server, when a connection can be written to: `connection`, or `secureConnection` with TLS.
 * @param patienceMs How long an answer may lie before none of it has been taken, and how long a client may take to hang up.
 */
export const endUnreadAnswers = (
  server: EventEmitter,
  event: 'connection' | 'secureConnection',
  patienceMs: number,
): OpenSockets => {
  const all = new Set<Socket>();
  const unread = new Map<Socket, { readonly sent: number; readonly looks: number }>();
  const every = Math.min(lookEveryMs, patienceMs);
  const mostLooks = Math.ceil(patienceMs / every);

  server.on(event, (socket: Socket) => {
    all.add(socket);
    socket.once('close', () => {
      all.delete(socket);
      unread.delete(socket);
    });
  });
  // Looks are counted, not time: a process that was busy for seconds has not given anybody seconds to read.
  const timer = setInterval(() => {
    for (const socket of all) {
      if (socket.writableLength === 0 && !socket.writableEnded) {
        unread.delete(socket);
        continue;
      }
      // What Node calls written includes what still lies here.
      const sent = socket.bytesWritten - socket.writableLength;
      const before = unread.get(socket);
      const looks = before?.sent === sent ? before.looks + 1 : 0;
      if (looks >= mostLooks) socket.destroy();
      else unread.set(socket, { sent, looks });
    }
  }, every);
  timer.unref();

  return { all, close: () => clearInterval(timer) };
};
