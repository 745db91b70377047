/**
 * Where a request goes and how: its shard, its id, what makes it the same as another, and when it may be worked on.
 */
import type { JobsOptions } from 'bullmq';
import type { MssSignatureReq } from '../protocol/sign-request.ts';
import { fingerprintOf, newMsspTransId, requestFingerprint } from '../transactions/ids.ts';
import type { RequestObjection } from './errors.ts';
import { objection } from './request.ts';

export interface EnqueueOptions {
  /**
   * 0, the default, is how HTTP adds requests: first come, first served. Larger numbers come after all smaller ones, up to
   * 2 097 151.
   */
  readonly priority?: number;
  /**
   * Nobody works on the request before; its TimeOut runs from then. At most a year ahead. A time that is past means now.
   */
  readonly notBefore?: Date;
  /**
   * Which request that is still open a new one joins, instead of asking a person twice:
   *
   * open         One that is equal in everything, `apTransId` and `instant` included. One that came over HTTP is joined for as
   *              long as HTTP joins it: for its TimeOut and a minute more, also when it has ended. Its end is the result then.
   * ap-trans-id  One with the same `apId` and `apTransId`, whatever else it says.
   */
  readonly deduplicate?: 'open' | 'ap-trans-id';
}

/** BullMQ keeps priorities in 21 bits. */
const lastPriority = 2_097_151;
const yearMs = 366 * 86_400_000;

/** @returns What is wrong with the options; undefined when nothing is. */
export const objectionToOptions = (
  { priority = 0, notBefore, deduplicate = 'open' }: EnqueueOptions,
  now: number,
): RequestObjection | undefined => {
  if (!Number.isInteger(priority) || priority < 0 || priority > lastPriority) {
    return objection(101, 'priority', `priority must be a whole number from 0 to ${lastPriority}`);
  }
  if (notBefore !== undefined && !(notBefore.getTime() <= now + yearMs)) {
    return objection(101, 'notBefore', 'notBefore must be a date, at most a year ahead');
  }
  if (deduplicate !== 'open' && deduplicate !== 'ap-trans-id') {
    return objection(101, 'deduplicate', 'deduplicate must be open or ap-trans-id');
  }
  return undefined;
};

/** @param options Without objection. */
export const placeRequest = (
  wire: MssSignatureReq,
  { priority = 0, notBefore, deduplicate = 'open' }: EnqueueOptions,
  shards: number,
  now: number,
) => {
  const { AP_ID, AP_TransID } = wire.AP_Info;
  const same =
    deduplicate === 'open'
      ? requestFingerprint(wire, shards)
      : fingerprintOf(['AP_TransID', AP_ID, AP_TransID], shards);
  const delayMs = Math.max(0, Math.ceil((notBefore?.getTime() ?? now) - now));
  const jobId = newMsspTransId(same.shard);
  return {
    shard: same.shard,
    jobId,
    deduplicationId: same.id,
    jobOptions: {
      jobId,
      // The delay counts from here, whatever the clock says by the time BullMQ looks at it.
      timestamp: now,
      deduplication: { id: same.id },
      ...(delayMs > 0 && { delay: delayMs }),
      ...(priority > 0 && { priority }),
    } satisfies JobsOptions,
  };
};

export type Placement = Readonly<ReturnType<typeof placeRequest>>;
