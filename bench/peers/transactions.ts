/**
 * One transaction in the words of each system: the request that begins it, and the one that asks
 * for its outcome.
 *
 * DBOS and Restate can answer the second as soon as there is an outcome, and are asked that way,
 * because it spares them requests. Paraph's interface knows only asking again.
 */

import {
  type ProcessShape,
  processData,
  processSigners,
  robots,
  uniqueNumber,
} from '../load/requests.ts';
import { type System, text, type Work } from './transaction-load-client.ts';

export interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  /** `Name: value`, each with its line end. */
  readonly headers?: string;
}

export interface Dialect {
  accept(): Request;
  /** From the body of the answer. */
  idOf(body: string): string;
  outcome(id: string): Request;
  /** The signature, Base64; undefined while the transaction is open. */
  signatureOf(body: string): string | undefined;
  /** The answer to `outcome` comes when there is one. */
  readonly waits: boolean;
}

/** All of these answers are JSON objects, but for Restate's outcome, a bare string. */
const parse = (body: string): Record<string, unknown> =>
  JSON.parse(body) as Record<string, unknown>;

const caller = (transId: string) => ({
  AP_Info: {
    AP_ID: 'http://bench.example',
    AP_TransID: transId,
    Instant: '2025-01-01T00:00:00.000Z',
  },
  MSSP_Info: { MSSP_ID: { URI: 'http://mid.vendor.ch/' } },
});

const paraph: Dialect = {
  accept: () => ({
    method: 'POST',
    path: '/rest/service/sign',
    body: JSON.stringify({
      MSS_SignatureReq: {
        MajorVersion: '1',
        MinorVersion: '2',
        ...caller(`B${uniqueNumber()}`),
        MobileUser: { MSISDN: robots.EC },
        MessagingMode: 'asynch',
        SignatureProfile: 'http://mid.vendor.ch/Any-LoA4',
        TimeOut: '60',
        DataToBeSigned: { MimeType: 'text/plain', Encoding: 'UTF-8', Data: text },
        AdditionalServices: [],
      },
    }),
  }),
  idOf: (body) => {
    const { MSSP_TransID } = parse(body).MSS_SignatureResp as { MSSP_TransID: string };
    return MSSP_TransID;
  },
  outcome: (id) => ({
    method: 'POST',
    path: '/rest/service/status',
    body: JSON.stringify({
      MSS_StatusReq: { MajorVersion: '1', MinorVersion: '1', ...caller('S1'), MSSP_TransID: id },
    }),
  }),
  signatureOf: (body) => {
    const answer = parse(body).MSS_StatusResp as {
      MSS_Signature?: { Base64Signature: string };
      Status: { StatusCode: { Value: string } };
    };
    if (answer.MSS_Signature !== undefined) return answer.MSS_Signature.Base64Signature;
    if (answer.Status.StatusCode.Value === '504') return undefined;
    throw new Error(`A transaction ended without a signature: ${body.slice(0, 300)}`);
  },
  waits: false,
};

const dbos: Dialect = {
  accept: () => ({ method: 'POST', path: '/requests', body: JSON.stringify({ text }) }),
  idOf: (body) => String(parse(body).id),
  outcome: (id) => ({ method: 'GET', path: `/requests/${id}` }),
  signatureOf: (body) => String(parse(body).signature),
  waits: true,
};

const restate: Dialect = {
  accept: () => ({
    method: 'POST',
    path: '/signatures/sign/send',
    body: JSON.stringify({ text }),
    // Without one, Restate forgets an invocation when it has ended, and cannot answer for it.
    headers: `Idempotency-Key: ${uniqueNumber()}\r\n`,
  }),
  idOf: (body) => String(parse(body).invocationId),
  outcome: (id) => ({ method: 'GET', path: `/restate/invocation/${id}/attach` }),
  signatureOf: (body) => JSON.parse(body) as string,
  waits: true,
};

/** A number is prompted six times a minute at most, so the robots are many. */
export const processRobots = {
  signers: 'order',
  ask: 'now',
  first: 411_000_000_000,
  numbers: 8192,
} as const;

let asked = 0;
const nextProcess = (shape: ProcessShape) => {
  asked += processSigners;
  return processData(shape, asked);
};

/** RFC 6749 2.3.1: an AP_ID has colons. */
const basic = ({ apId }: { readonly apId: string }): string =>
  `Authorization: Basic ${btoa(`${encodeURIComponent(apId)}:`)}\r\n`;

const paraphProcess: Dialect = {
  accept: () => {
    const data = nextProcess(processRobots);
    const body = JSON.stringify({ input: data.input });
    return { method: 'POST', path: '/workflows/process', body, headers: basic(data) };
  },
  idOf: (body) => String(parse(body).id),
  outcome: (id) => ({
    method: 'GET',
    path: `/workflows/process/${id}`,
    headers: basic(processData(processRobots, 0)),
  }),
  signatureOf: (body) => {
    const { status, output } = parse(body) as { status: string; output?: { evidence: string } };
    if (status === 'open') return undefined;
    if (status === 'completed' && output !== undefined) return output.evidence;
    throw new Error(`A process ended without signatures: ${body.slice(0, 300)}`);
  },
  waits: false,
};

export const dialects: Readonly<Record<Work, Readonly<Record<System, Dialect>>>> = {
  signature: { paraph, dbos, restate },
  process: {
    paraph: paraphProcess,
    dbos: { ...dbos, accept: () => ({ ...dbos.accept(), path: '/processes' }) },
    restate: {
      ...restate,
      accept: () => ({ ...restate.accept(), path: '/signatures/process/send' }),
    },
  },
};
