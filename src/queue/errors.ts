/** The expected errors of the queue. Any other one is an unreachable Redis, or a bug. */
import {
  type Fault,
  type FaultCode,
  type FaultReason,
  faultTable,
} from '../../packages/protocol/src/fault.ts';

/** The transaction has ended without a signature. */
export class SignatureFailedError extends Error {
  override readonly name = 'SignatureFailedError';
  readonly id: string;
  /** The number of the Fault, 401 for `_401`. Programs decide by it. */
  readonly code: FaultCode;
  readonly reason: FaultReason;
  /** The cause in words, for people. */
  readonly detail: string;

  constructor(id: string, { code, detail }: Fault) {
    const { reason } = faultTable[code];
    super(`_${code} ${reason}: ${detail}`);
    this.id = id;
    this.code = code;
    this.reason = reason;
    this.detail = detail;
  }
}

/** Why a request was not added; `detail` never repeats a value. */
export interface RequestObjection {
  readonly code: FaultCode;
  readonly reason: FaultReason;
  readonly detail: string;
  /** The wrong member, as the caller writes it: `msisdn`, `geofencing.countryWhitelist[0]`. */
  readonly path: string;
}

/** The request is invalid. Nothing was added. */
export class InvalidRequestError extends Error implements RequestObjection {
  override readonly name = 'InvalidRequestError';
  readonly code: FaultCode;
  readonly reason: FaultReason;
  readonly detail: string;
  readonly path: string;

  constructor({ code, reason, detail, path }: RequestObjection) {
    super(`_${code} ${reason}: ${detail}`);
    this.code = code;
    this.reason = reason;
    this.detail = detail;
    this.path = path;
  }
}

/**
 * timeout  The caller's timeout passed. The transaction goes on; ask again.
 * unknown  There is no such transaction any more: it was removed, or its retention is over.
 * closed   The queue was closed meanwhile.
 */
export type Unsettled = 'timeout' | 'unknown' | 'closed';

/** No result can be given now. The transaction may still end in any way. */
export class NoResultError extends Error {
  override readonly name = 'NoResultError';
  readonly id: string;
  readonly why: Unsettled;

  constructor(id: string, why: Unsettled) {
    super(`There is no result of ${id}: ${why}`);
    this.id = id;
    this.why = why;
  }
}
