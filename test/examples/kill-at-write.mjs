/**
 * Loaded into a worker process before the product (`node --import`). It kills its process with
 * SIGKILL at a write to a socket, a command to Redis: the one that KILL_AT_WRITE says, of those
 * that name the instance KILL_ABOUT.
 *
 * At an even one the write is not made any more, nor those of the same moment; at an odd one they
 * are.
 */
import { Socket } from 'node:net';

const last = Number(process.env.KILL_AT_WRITE);
const { write } = Socket.prototype;
const kill = () => process.kill(process.pid, 'SIGKILL');

const about = process.env.KILL_ABOUT ?? '';
// Ids end with a number: that of `s-1` is no part of `s-12`.
const named = new RegExp(`${about}(?!\\d)`);

let writes = 0;
// At once: connections keep the function that they find when they are made.
Socket.prototype.write = function (/** @type {[]} */ ...given) {
  const [chunk] = given;
  if (
    about === '' ||
    !named.test(Buffer.isBuffer(chunk) ? chunk.toString('latin1') : String(chunk))
  )
    return write.apply(this, given);
  writes += 1;
  if (writes === last && last % 2 === 0) kill();
  const result = write.apply(this, given);
  if (writes === last) setTimeout(kill, 1);
  return result;
};
