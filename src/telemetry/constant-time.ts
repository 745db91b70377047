import { hash, timingSafeEqual } from 'node:crypto';

/** Compares digests, so that neither content nor length shows in the time it takes. */
export const equalInConstantTime = (one: string, other: string): boolean =>
  timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
