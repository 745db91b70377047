/**
 * Requests that may take longer to arrive than the others: uploads, whose route bounds their time
 * itself. Node has one time limit for all requests of a server, and tells of one that is over on
 * the socket (`clientError`); for a socket in this set nothing is done then.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

const sockets = new WeakSet<Duplex>();

/** @returns Ends it: call it when the body was read, because the connection may be used again. */
export const allowLongRequest = (incoming: IncomingMessage | undefined): (() => void) => {
  if (incoming === undefined) return () => undefined;
  const { socket } = incoming;
  sockets.add(socket);
  return () => void sockets.delete(socket);
};

export const isLongRequest = (socket: Duplex): boolean => sockets.has(socket);
