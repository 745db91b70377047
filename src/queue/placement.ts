/** The shard of a request, its id, the requests that it joins, and when work on it may begin. */
import type { JobsOptions } from 'bullmq';
import type { MssSignatureReq } from '../../packages/protocol/src/sign-request.ts';
import { fingerprintOf, newMsspTransId, requestFingerprint } from '../transactions/ids.ts';
import type { RequestObjection } from './errors.ts';
import { objection } from './request.ts';

export interface EnqueueOptions {
  /**
   * Default 0, like HTTP: first come, first served. Larger numbers, up to 2 097 151, come later.
   */
  readonly priority?: number;
  /** Work begins then at the earliest, and the TimeOut too. At most a year ahead. */
  readonly notBefore?: Date;
  /**
   * Which open request a new one joins, so that the person is asked once:
   *
   * open         An equal one, `apTransId` and `instant` included. A request over HTTP is joined
   *              for its TimeOut and a minute more, also after its end, which is then the result.
   * ap-trans-id  One with the same `apId` and `apTransId`, whatever its content.
   */
  readonly deduplicate?: 'open' | 'ap-trans-id';
}

/** BullMQ keeps priorities in 21 bits. */
const maxPriority = 2_097_151;
const yearMs = 366 * 86_400_000;

/** @returns Undefined for valid options. */
export const objectionToOptions = (
  { priority = 0, notBefore, deduplicate = 'open' }: EnqueueOptions,
  now: number,
): RequestObjection | undefined => {
  if (!Number.isInteger(priority) || priority < 0 || priority > maxPriority) {
    return objection(101, 'priority', `priority must be a whole number from 0 to ${maxPriority}`);
  }
  if (notBefore !== undefined && !(notBefore.getTime() <= now + yearMs)) {
    return objection(101, 'notBefore', 'notBefore must be a date, at most a year ahead');
  }
  if (deduplicate !== 'open' && deduplicate !== 'ap-trans-id') {
    return objection(101, 'deduplicate', 'deduplicate must be open or ap-trans-id');
  }
  return undefined;
};

/** @param options Valid ones. */
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
