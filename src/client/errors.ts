/** The errors of the client. */
import type { ServiceFault } from './reply.ts';

/** The request was refused, or the transaction ended without a signature. */
export class SignatureFaultError extends Error implements ServiceFault {
  override readonly name = 'SignatureFaultError';
  /** As in `_401`, without the underscore. Other services may have other codes. */
  readonly code: number;
  readonly reason: string;
  /** For people. */
  readonly detail: string;
  /** Of an accepted transaction. */
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
 * No usable answer: none at all, not of this interface, or too busy. The request may have arrived.
 */
export class ServiceUnreachableError extends Error {
  override readonly name = 'ServiceUnreachableError';
  /** Of an accepted transaction, which goes on. */
  readonly msspTransId: string | undefined;

  constructor(cause: string, msspTransId?: string) {
    super(`The signature service cannot be reached: ${cause}`);
    this.msspTransId = msspTransId;
  }
}

/** The timeout has passed while the transaction is open. Ask again with `result`. */
export class SignatureOutstandingError extends Error {
  override readonly name = 'SignatureOutstandingError';
  readonly msspTransId: string;

  constructor(msspTransId: string) {
    super(`Transaction ${msspTransId} is still open`);
    this.msspTransId = msspTransId;
  }
}
