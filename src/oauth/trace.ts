import { randomBytesOf } from '../pki/random.ts';

/** Eight characters by which an answer is found again in the log. */
export const newTrace = (): string => randomBytesOf(6).toString('base64url');
