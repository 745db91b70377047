/** The errors of the client. */
import type { ServiceFault } from './reply.ts';

/** The request was refused, or the transaction ended without a signature. */
export class SignatureFaultError extends Error implements ServiceFault {
  override readonly name = 'SignatureFaultError';
  /** The code of the fault, such as 401. Other services may have other codes. */
  readonly code: number;
  readonly reason: string;
  /** The text of the fault, for people. */
  readonly detail: string;
  /** The id of the transaction, if it was accepted. */
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
 * There is no usable answer: none at all, none of this interface, or the service is too busy. The
 * request may have arrived.
 */
export class ServiceUnreachableError extends Error {
  override readonly name = 'ServiceUnreachableError';
  /** The id of the transaction, if it was accepted. It goes on. */
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
