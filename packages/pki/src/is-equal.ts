import { timingSafeEqual } from 'node:crypto';

/** Compares secrets; how long it takes tells their lengths alone. */
export const isEqual = (one: string | Uint8Array, other: string | Uint8Array): boolean => {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
};
