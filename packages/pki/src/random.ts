/** Random bytes, read from the system in bulk, because each call costs more than the bytes. */
import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4096);
let used = pool.length;

/** Cryptographically strong random bytes, kept nowhere else. @param length At most 4096. */
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
