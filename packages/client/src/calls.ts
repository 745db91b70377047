/**
 * One call for each operation of the signature interface. Every outcome is a value. The command
 * line uses the calls directly; client.ts makes the public client from them.
 *
 * Nothing is verified here: a relying party calls `verifySignature` with its text and its roots.
 */
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import { parseJson } from '../../protocol/src/json.ts';
import type { Operation } from '../../protocol/src/parse.ts';
import {
  isOneTimePassword,
  type MessagingMode,
  type ProfileParam,
  profileParams,
} from '../../protocol/src/requests.ts';
import type { Dialect } from '../../protocol/src/uris.ts';
import {
  defaultTimeoutSeconds,
  type GeofencingInput,
  type RequestInput,
  writeCaller,
  writeReceiptRequest,
  writeSignRequest,
} from '../../protocol/src/write-request.ts';
import {
  faultAnswerSchema,
  profileAnswerSchema,
  rawProfileAnswerSchema,
  receiptAnswerSchema,
  signatureAnswerSchema,
  statusAnswerSchema,
} from './answers.ts';
import { causeOf, type Fetch, isUnsent } from './fetch.ts';
import { pollUntilEnded } from './polling.ts';
import type { Reply, Standing, StatusWord, Submitted } from './reply.ts';

interface CallsOptions {
  /** The base URL, `https://host/base`; the paths of the interface follow it. */
  readonly url: string;
  readonly apId: string;
  /** The password, which is secret. It is written into bodies only. */
  readonly apPassword: string | undefined;
  /** The spelling of URIs. Default: that of the interface. */
  readonly dialect?: Dialect | undefined;
  readonly fetch: Fetch;
  readonly now: () => number;
  /** Ends every call. The service goes on with requests that it has received. */
  readonly signal: AbortSignal;
}

export type SignRequest = RequestInput & {
  /** Whether the answer has the location of the phone. */
  readonly geofencing?: boolean;
};

/** A request that a service passes on, with members that only such a service uses. */
export type HandedOn = RequestInput & {
  readonly geofencing?: boolean | GeofencingInput;
  /** The member Data of an approval, unchanged, because the order of its members is signed. */
  readonly approvalData?: string;
};

/** The name of a request, by which it can be repeated as the same one. Default: a new name. */
export interface RequestName {
  readonly apTransId: string;
  readonly instant: Date;
}

export interface ReceiptRequest {
  readonly msspTransId: string;
  readonly msisdn: string;
  readonly text: string;
  readonly language?: string | undefined;
}

/** The timeout of answers that need no person. */
const promptMs = 15_000;
/** Time that is added to the time of the person. */
const marginMs = 30_000;
/** The longest time that a receipt can stay on the phone. */
const receiptMs = 300_000;

/** The dialect in which the interface itself is written. */
const vendor: Dialect = { authority: 'mid.vendor.ch', languageAuthority: 'mss.vendor.fi' };

interface RawAnswer {
  readonly status: number;
  readonly bytes: Uint8Array;
  /** Whether the answer has the header Retry-After. */
  readonly retryLater: boolean;
}

const notTheInterface = (status: number): Reply<never> => ({
  kind: 'unreachable',
  cause: `what answers there (status ${status}) is no signature service`,
});

const readAnswer = <Schema extends z.ZodType>(
  { status, bytes, retryLater }: RawAnswer,
  schema: Schema,
): Reply<z.output<Schema>> => {
  const json = parseJson(bytes);
  if (!json.ok) return notTheInterface(status);
  const fault = faultAnswerSchema.safeParse(json.value);
  if (fault.success) return { kind: 'fault', fault: fault.data, retryLater };
  const answer = status === 200 ? schema.safeParse(json.value) : undefined;
  return answer?.success ? { kind: 'answered', value: answer.data } : notTheInterface(status);
};

/**
 * The kind of the transaction: 100 REQUEST_OK is the end of a one-time password only.
 */
export interface StatusQuestion {
  readonly oneTimePassword?: boolean | undefined;
}

const standingBy = (
  word: Exclude<StatusWord, { state: 'refused' }>,
  { oneTimePassword }: StatusQuestion,
): Standing => {
  if (word.state !== 'accepted') return word;
  return oneTimePassword
    ? { state: 'delivered', services: word.services }
    : { state: 'outstanding' };
};

const submittedBy = (
  { msspTransId, profile, word }: z.output<typeof signatureAnswerSchema>,
  question: StatusQuestion,
): Reply<Submitted> =>
  word.state === 'refused'
    ? { kind: 'fault', fault: word.fault, isFinal: true }
    : { kind: 'answered', value: { msspTransId, profile, standing: standingBy(word, question) } };

export type Calls = ReturnType<typeof createCalls>;

export const createCalls = (options: CallsOptions) => {
  const { apId, apPassword, dialect = vendor, fetch, now, signal } = options;
  const base = options.url.replace(/\/+$/, '');
  const caller = (name?: RequestName) => ({
    apId,
    apPassword,
    dialect,
    ...(name ?? { apTransId: `P${randomBytes(10).toString('hex')}`, instant: new Date(now()) }),
  });

  const exchange = async (
    path: string,
    withinMs: number,
    body?: object,
  ): Promise<Extract<Reply<RawAnswer>, { kind: 'answered' | 'unreachable' | 'aborted' }>> => {
    if (signal.aborted) return { kind: 'aborted' };
    const outOfTime = AbortSignal.timeout(withinMs);
    try {
      const response = await fetch(`${base}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers:
          body === undefined
            ? {}
            : { accept: 'application/json', 'content-type': 'application/json;charset=utf-8' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.any([signal, outOfTime]),
        redirect: 'manual',
      });
      const bytes = new Uint8Array(await response.arrayBuffer());
      const retryLater = response.headers.has('retry-after');
      return { kind: 'answered', value: { status: response.status, bytes, retryLater } };
    } catch (error) {
      if (signal.aborted) return { kind: 'aborted' };
      return {
        kind: 'unreachable',
        cause: outOfTime.aborted ? `no answer in ${withinMs / 1000} seconds` : causeOf(error),
        ...(isUnsent(error) && { unsent: true }),
      };
    }
  };

  const call = async <Schema extends z.ZodType>(
    operation: Operation,
    schema: Schema,
    withinMs: number,
    body: object,
  ): Promise<Reply<z.output<Schema>>> => {
    const raw = await exchange(`/rest/service/${operation}`, withinMs, body);
    return raw.kind === 'answered' ? readAnswer(raw.value, schema) : raw;
  };

  const status = async (
    msspTransId: string,
    question: StatusQuestion = {},
  ): Promise<Reply<Standing>> => {
    const reply = await call('status', statusAnswerSchema, promptMs, {
      MSS_StatusReq: {
        ...writeCaller(caller()),
        MajorVersion: '1',
        MinorVersion: '1',
        MSSP_TransID: msspTransId,
      },
    });
    // The fault refuses this call only. The transaction goes on.
    if (reply.kind === 'fault' && reply.retryLater)
      return { kind: 'unreachable', cause: 'it is busy and asks to try again later' };
    if (reply.kind !== 'answered') return reply;
    const { value: word } = reply;
    return word.state === 'refused'
      ? { kind: 'fault', fault: word.fault, isFinal: true }
      : { kind: 'answered', value: standingBy(word, question) };
  };

  const profile = <Schema extends z.ZodType>(
    schema: Schema,
    msisdn: string,
    params: readonly ProfileParam[],
  ): Promise<Reply<z.output<Schema>>> =>
    call('profile', schema, promptMs, {
      MSS_ProfileReq: {
        ...writeCaller(caller()),
        MajorVersion: '2',
        MinorVersion: '0',
        MobileUser: { MSISDN: msisdn },
        Params: params.join(' '),
      },
    });

  return {
    status,
    sign: async (
      request: HandedOn & { readonly mode: MessagingMode },
      name?: RequestName,
    ): Promise<Reply<Submitted>> => {
      const { mode, timeoutSeconds = defaultTimeoutSeconds } = request;
      const withinMs = mode === 'synch' ? timeoutSeconds * 1000 + marginMs : promptMs;
      const body = writeSignRequest(caller(name), mode, request);
      if (request.approvalData !== undefined)
        body.MSS_SignatureReq.DataToBeSigned.Data = request.approvalData;
      const reply = await call('sign', signatureAnswerSchema, withinMs, body);
      // In asynch mode 100 always means that the request is accepted.
      const oneTimePassword = mode === 'synch' && isOneTimePassword(request.profile ?? '');
      return reply.kind === 'answered' ? submittedBy(reply.value, { oneTimePassword }) : reply;
    },
    /** Polls the status to the end, or until `until`, in milliseconds since the epoch. */
    statusAtEnd: (msspTransId: string, until: number, question?: StatusQuestion) =>
      pollUntilEnded({
        ask: () => status(msspTransId, question),
        until,
        now,
        pause: (ms) => delay(ms, undefined, { signal }).catch(() => undefined),
      }),
    receipt: (request: ReceiptRequest, name?: RequestName) =>
      call(
        'receipt',
        receiptAnswerSchema,
        receiptMs + marginMs,
        writeReceiptRequest(caller(name), request),
      ),
    /** Asks for the profile with all params. */
    profile: (msisdn: string) => profile(profileAnswerSchema, msisdn, profileParams),
    /** Asks for the profile with some params, and returns the content unparsed. */
    rawProfile: (msisdn: string, params: readonly ProfileParam[]) =>
      profile(rawProfileAnswerSchema, msisdn, params),
    /** The roots as PEM, as trustworthy as the connection. Undefined if the service offers none. */
    rootCertificates: async (): Promise<Reply<string | undefined>> => {
      const raw = await exchange('/pki/root.pem', promptMs);
      if (raw.kind !== 'answered') return raw;
      const { status: httpStatus, bytes } = raw.value;
      if (httpStatus === 404) return { kind: 'answered', value: undefined };
      if (httpStatus !== 200) return notTheInterface(httpStatus);
      return { kind: 'answered', value: Buffer.from(bytes).toString('latin1') };
    },
  };
};
