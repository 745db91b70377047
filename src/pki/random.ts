/**
 * Random bytes, drawn from the system in bulk: a call for each handful costs several times what the bytes do.
 */
import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4096);
let used = pool.length;

/**
 * Cryptographically strong random bytes. None is handed out twice, and none stays behind.
 *
 * @param length At most 4096.
 */
export const randomBytesOf = (length: number): Buffer => {
  if (length > pool.length) throw new RangeError(`at most ${pool.length} random bytes at once`);
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const end = used + length;
  const taken = Buffer.from(pool.subarray(used, end));
  pool.fill(0, used, end);
  used = end;
  return taken;
};
