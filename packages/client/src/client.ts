/**
 * A client of the signature interface for other programs, for Paraph and other services.
 *
 * A promise resolves with the answer, or rejects with an error of errors.ts or the reason of the
 * caller's signal. A signal or timeout ends only the wait: an accepted transaction goes on, and its
 * id finds it again.
 */
import { certificatesIn } from '../../pki/src/roots.ts';
import { writeDtbd } from '../../protocol/src/approval.ts';
import { bytesToSign, isOneTimePassword } from '../../protocol/src/requests.ts';
import type { Dialect } from '../../protocol/src/uris.ts';
import { type DataToSign, defaultTimeoutSeconds } from '../../protocol/src/write-request.ts';
import { type Calls, createCalls, type ReceiptRequest, type SignRequest } from './calls.ts';
import {
  ServiceUnreachableError,
  SignatureFaultError,
  SignatureOutstandingError,
} from './errors.ts';
import { type Fetch, fetchWithoutTimeout } from './fetch.ts';
import type { ProfileAnswer, Reaction, Reply, ServiceAnswers, Standing } from './reply.ts';

export interface ClientOptions {
  /** The base URL, `https://host/base`; the paths of the interface follow it. */
  readonly url: string;
  /** The AP_ID of the calling application. */
  readonly apId: string;
  /** The password, which is secret. It is written into bodies only. */
  readonly apPassword?: string | undefined;
  /** The spelling of the service's URIs. Paraph accepts those of its configuration. */
  readonly dialect?: Dialect | undefined;
  /**
   * Replaces `fetch`, for example to send a client certificate. The built-in `fetch` is sufficient
   * for asynch mode. Default: one without a timeout.
   */
  readonly fetch?: Fetch | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** The timeout. After it the promise rejects with a `TimeoutError`. */
  readonly timeoutMs?: number | undefined;
}

export interface StatusOptions extends CallOptions {
  /**
   * Whether the transaction is a one-time password, which ends with 100 REQUEST_OK. Any other
   * transaction goes on with that status.
   */
  readonly oneTimePassword?: boolean | undefined;
}

export interface Accepted {
  readonly msspTransId: string;
  /** The URI of the chosen method; undefined if the service does not name it. */
  readonly profile: string | undefined;
}

/** The result. `signature` is undefined for a one-time password, which is not signed. */
export interface Signed {
  readonly msspTransId: string;
  /** CMS SignedData, not verified: see `verifySignature`. */
  readonly signature: Uint8Array | undefined;
  /** Whether the service has verified the signature itself. */
  readonly validated: boolean;
  readonly services: ServiceAnswers;
}

export interface SignatureClient {
  /**
   * Asks a person to sign, and waits. In asynch mode, the default, the status is polled, so a
   * broken connection does no harm. In synch mode one call stays open; if it breaks, the caller
   * does not learn the id of the transaction.
   *
   * @throws SignatureFaultError, ServiceUnreachableError, SignatureOutstandingError (rejects)
   */
  sign(
    request: SignRequest & { readonly mode?: 'synch' | 'asynch' },
    options?: CallOptions,
  ): Promise<Signed & Accepted>;
  /** Asks in asynch mode, and resolves when the request is accepted. */
  submit(request: SignRequest, options?: CallOptions): Promise<Accepted>;
  /** The state of a transaction. Rejects with its fault when it has failed. */
  status(msspTransId: string, options?: StatusOptions): Promise<Standing>;
  /** Polls the status until the end, by default as long as any transaction can take. */
  result(msspTransId: string, options?: StatusOptions): Promise<Signed>;
  /** Shows the person a receipt. Resolves with the person's reaction. */
  receipt(request: ReceiptRequest, options?: CallOptions): Promise<Reaction>;
  /** The devices and profiles with which a person can sign. */
  profile(msisdn: string, options?: CallOptions): Promise<ProfileAnswer>;
  /** The roots (DER), as trustworthy as the connection. Empty if the service offers none. */
  rootCertificates(options?: CallOptions): Promise<readonly Uint8Array[]>;
}

/** Time that a service gets to end a transaction after its deadline. */
const graceMs = 15_000;
/** Longer than the TimeOut of any known service. */
const maxWaitMs = 3_600_000;

/** The signed bytes of this data: the expected data of `verifySignature`. */
export const signedBytes = (data: DataToSign): Uint8Array =>
  bytesToSign(
    data.approval === undefined
      ? { kind: 'text', text: data.text }
      : { kind: 'transaction-approval', text: data.approval.title, dtbd: writeDtbd(data.approval) },
  );

const signedOf = (msspTransId: string, standing: Standing): Signed => {
  switch (standing.state) {
    case 'outstanding':
      throw new SignatureOutstandingError(msspTransId);
    case 'delivered':
      return { msspTransId, signature: undefined, validated: false, services: standing.services };
    case 'signed': {
      const { signature, validated, services } = standing;
      return { msspTransId, signature, validated, services };
    }
  }
};

export const createClient = (options: ClientOptions): SignatureClient => {
  const { url, apId, apPassword, dialect, fetch = fetchWithoutTimeout, now = Date.now } = options;

  /** Makes calls under the caller's signal and timeout; throws all other outcomes. */
  const under = async <T>(
    { signal, timeoutMs }: CallOptions,
    work: (
      calls: Calls,
      answered: <A>(reply: Promise<Reply<A>>, msspTransId?: string) => Promise<A>,
    ) => Promise<T>,
  ): Promise<T> => {
    const gone = AbortSignal.any([
      ...(signal === undefined ? [] : [signal]),
      ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]),
    ]);
    const calls = createCalls({ url, apId, apPassword, dialect, fetch, now, signal: gone });
    return work(calls, async (pending, msspTransId) => {
      const reply = await pending;
      switch (reply.kind) {
        case 'answered':
          return reply.value;
        case 'fault':
          throw new SignatureFaultError(reply.fault, msspTransId);
        case 'unreachable':
          throw new ServiceUnreachableError(reply.cause, msspTransId);
        case 'aborted':
          throw gone.reason;
      }
    });
  };

  return {
    sign: (request, callOptions = {}) =>
      under(callOptions, async (calls, answered) => {
        const { mode = 'asynch', timeoutSeconds = defaultTimeoutSeconds } = request;
        const { msspTransId, profile, standing } = await answered(calls.sign({ ...request, mode }));
        const until = now() + timeoutSeconds * 1000 + graceMs;
        const question = { oneTimePassword: isOneTimePassword(request.profile ?? '') };
        // Some services only accept a synchronous request, and give its end by the status.
        const end =
          standing.state === 'outstanding'
            ? await answered(calls.statusAtEnd(msspTransId, until, question), msspTransId)
            : standing;
        return { ...signedOf(msspTransId, end), profile: profile || undefined };
      }),

    submit: (request, callOptions = {}) =>
      under(callOptions, async (calls, answered) => {
        const { msspTransId, profile } = await answered(calls.sign({ ...request, mode: 'asynch' }));
        return { msspTransId, profile: profile || undefined };
      }),

    status: (msspTransId, callOptions = {}) =>
      under(callOptions, (calls, answered) =>
        answered(calls.status(msspTransId, callOptions), msspTransId),
      ),

    result: (msspTransId, callOptions = {}) =>
      under(callOptions, async (calls, answered) =>
        signedOf(
          msspTransId,
          await answered(
            calls.statusAtEnd(msspTransId, now() + maxWaitMs, callOptions),
            msspTransId,
          ),
        ),
      ),

    receipt: (request, callOptions = {}) =>
      under(callOptions, (calls, answered) =>
        answered(calls.receipt(request), request.msspTransId),
      ),

    profile: (msisdn, callOptions = {}) =>
      under(callOptions, (calls, answered) => answered(calls.profile(msisdn))),

    rootCertificates: (callOptions = {}) =>
      under(callOptions, async (calls, answered) => {
        const pem = await answered(calls.rootCertificates());
        return certificatesIn(pem ?? '');
      }),
  };
};
