/**
 * A small client of the signature interface: one call for each operation, every outcome a value. The command line uses it
 * as it is; client.ts makes the one of it that other programs import.
 *
 * It says what the service said and verifies nothing: who relies on a signature calls `verifySignature` with the text
 * that it sent and the roots that it trusts.
 */
import { Buffer } from 'node:buffer';
import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import type { Checked } from '../protocol/fault.ts';
import { parseJson } from '../protocol/json.ts';
import type { Operation } from '../protocol/parse.ts';
import {
  faultAnswerSchema,
  profileAnswerSchema,
  receiptAnswerSchema,
  signatureAnswerSchema,
  statusAnswerSchema,
} from './answer-schemas.ts';
import type { Fetch } from './patient-fetch.ts';
import { pollUntilEnded } from './polling.ts';
import type { ProfileAnswer, Reaction, Reply, Standing, Submitted } from './reply.ts';
import { causeOf } from './unreachable.ts';
import { readProfile, readReaction, readStatus, readSubmitted } from './wire-answers.ts';
import {
  type Identity,
  type ReceiptOptions,
  type SignOptions,
  writeProfileRequest,
  writeReceiptRequest,
  writeSignRequest,
  writeStatusRequest,
} from './wire-requests.ts';

export interface SignatureClientOptions extends Identity {
  /** Base of the service: `https://host/base`; the paths of the interface follow it. */
  readonly url: string;
  readonly fetch: Fetch;
  readonly now: () => number;
  /** Ends every call; the service goes on with what it has received. */
  readonly signal: AbortSignal;
}

export interface SignatureClient {
  sign(options: SignOptions): Promise<Reply<Submitted>>;
  status(msspTransId: string): Promise<Reply<Standing>>;
  /** Asks for the status until the transaction has ended, at most until a time in milliseconds since the epoch. */
  statusAtEnd(msspTransId: string, until: number): Promise<Reply<Standing>>;
  receipt(options: ReceiptOptions): Promise<Reply<Reaction>>;
  profile(msisdn: string): Promise<Reply<ProfileAnswer>>;
  /**
   * PEM of the roots that the service says its signatures end in: as trustworthy as the connection. Undefined when the
   * service does not offer them, which the interface does not ask of it.
   */
  rootCertificates(): Promise<Reply<string | undefined>>;
}

/** For answers that need nobody's thumbs. */
const promptMs = 15_000;
/** What a service may take beyond the time that the user has. */
const marginMs = 30_000;
/** The longest that a receipt can be set to stay on the phone. */
const receiptMs = 300_000;

interface RawAnswer {
  readonly status: number;
  readonly bytes: Uint8Array;
  /** Whether it has a Retry-After. */
  readonly retryLater: boolean;
}

const notTheInterface = (status: number): Reply<never> => ({
  kind: 'unreachable',
  cause: `what answers there (status ${status}) is no signature service`,
});

const readAnswer = <T>(
  { status, bytes, retryLater }: RawAnswer,
  read: (body: unknown) => Checked<T>,
): Reply<T> => {
  const json = parseJson(bytes);
  if (!json.ok) return notTheInterface(status);
  const fault = faultAnswerSchema.safeParse(json.value);
  if (fault.success) return { kind: 'fault', fault: fault.data, retryLater };
  const value = status === 200 ? read(json.value) : undefined;
  return value?.ok ? { kind: 'answered', value: value.value } : notTheInterface(status);
};

/** A reader for a body of one schema. */
const reading =
  <Schema extends z.ZodType, T>(schema: Schema, interpret: (answer: z.output<Schema>) => Checked<T>) =>
  (body: unknown): Checked<T> => {
    const parsed = schema.safeParse(body);
    return parsed.success ? interpret(parsed.data) : { ok: false, fault: { code: 900, detail: '' } };
  };

export const createSignatureClient = (options: SignatureClientOptions): SignatureClient => {
  const { fetch, now, signal } = options;
  const base = options.url.replace(/\/+$/, '');

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
        headers: body === undefined ? {} : { 'content-type': 'application/json;charset=utf-8' },
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
      };
    }
  };

  const call = async <T>(
    operation: Operation,
    body: object,
    withinMs: number,
    read: (body: unknown) => Checked<T>,
  ): Promise<Reply<T>> => {
    const raw = await exchange(`/rest/service/${operation}`, withinMs, body);
    return raw.kind === 'answered' ? readAnswer(raw.value, read) : raw;
  };

  const statusOf = async (msspTransId: string): Promise<Reply<Standing>> => {
    const reply = await call(
      'status',
      writeStatusRequest(options, msspTransId, now()),
      promptMs,
      reading(statusAnswerSchema, (answer) => readStatus(answer.MSS_StatusResp)),
    );
    // That is about the service. The transaction goes on.
    return reply.kind === 'fault' && reply.retryLater
      ? { kind: 'unreachable', cause: 'it has no answer now and says to ask again later' }
      : reply;
  };

  return {
    status: statusOf,
    sign: (request) =>
      call(
        'sign',
        writeSignRequest(options, request, now()),
        request.mode === 'synch' ? request.timeoutSeconds * 1000 + marginMs : promptMs,
        reading(signatureAnswerSchema, (answer) => readSubmitted(answer.MSS_SignatureResp, request.mode)),
      ),
    statusAtEnd: (msspTransId, until) =>
      pollUntilEnded({
        ask: () => statusOf(msspTransId),
        until,
        now,
        pause: (ms) => delay(ms, undefined, { signal }).catch(() => undefined),
      }),
    receipt: (request) =>
      call(
        'receipt',
        writeReceiptRequest(options, request, now()),
        receiptMs + marginMs,
        reading(receiptAnswerSchema, (answer) => readReaction(answer.MSS_ReceiptResp)),
      ),
    profile: (msisdn) =>
      call(
        'profile',
        writeProfileRequest(options, msisdn, now()),
        promptMs,
        reading(profileAnswerSchema, (answer) => readProfile(answer.MSS_ProfileResp)),
      ),
    rootCertificates: async () => {
      const raw = await exchange('/pki/root.pem', promptMs);
      if (raw.kind !== 'answered') return raw;
      const { status, bytes } = raw.value;
      if (status === 404) return { kind: 'answered', value: undefined };
      if (status !== 200) return notTheInterface(status);
      return { kind: 'answered', value: Buffer.from(bytes).toString('latin1') };
    },
  };
};
