/**
 * Loaded into a worker process before the product (`node --import`). It kills its process with SIGKILL at a write to a
 * socket, mostly a command to Redis: the one that KILL_AT_WRITE says, counted from SIGUSR2 on.
 *
 * At an even one the write is not made any more, nor those of the same moment; at an odd one they are.
 */
import { Socket } from 'node:net';

const last = Number(process.env.KILL_AT_WRITE);
const { write } = Socket.prototype;
const kill = () => process.kill(process.pid, 'SIGKILL');

let writes = Number.NaN;
// At once: connections keep the function that they find when they are made.
Socket.prototype.write = function (/** @type {[]} */ ...given) {
  writes += 1;
  if (writes === last && last % 2 === 0) kill();
  const result = write.apply(this, given);
  if (writes === last) setTimeout(kill, 1);
  return result;
};
process.once('SIGUSR2', () => {
  writes = 0;
});
