/** What a call to a signature service may come to beside its answer. */
import type { ServiceFault } from './reply.ts';

/** The request was refused, or the transaction ended without a signature. */
export class SignatureFaultError extends Error implements ServiceFault {
  override readonly name = 'SignatureFaultError';
  /** As in `_401`, without the underscore. Other services may have other codes. */
  readonly code: number;
  readonly reason: string;
  /** For people. */
  readonly detail: string;
  /** Of a transaction that had been accepted. */
  readonly msspTransId: string | undefined;

  constructor({ code, reason, detail }: ServiceFault, msspTransId?: string) {
    super(`_${code} ${reason}: ${detail}`);
    this.code = code;
    this.reason = reason;
    this.detail = detail;
    this.msspTransId = msspTransId;
  }
}

/**
 * Nobody answered, or somebody who speaks something else, or a service that was too busy to look. What was sent may have
 * been received.
 */
export class ServiceUnreachableError extends Error {
  override readonly name = 'ServiceUnreachableError';
  /** Of a transaction that had been accepted, and goes on. */
  readonly msspTransId: string | undefined;

  constructor(cause: string, msspTransId?: string) {
    super(`The signature service cannot be reached: ${cause}`);
    this.msspTransId = msspTransId;
  }
}

/** The time for waiting is up, and the transaction is still open. Ask again with `result`. */
export class SignatureOutstandingError extends Error {
  override readonly name = 'SignatureOutstandingError';
  readonly msspTransId: string;

  constructor(msspTransId: string) {
    super(`Transaction ${msspTransId} is still open`);
    this.msspTransId = msspTransId;
  }
}
