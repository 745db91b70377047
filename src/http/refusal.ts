/**
 * Refusing in time: what is said to whom there is no room for.
 *
 * Refusals only help when they cost little beside the work that they keep away. A request to the address of an operation
 * is therefore refused before anything is made of it; its body is not even looked at. The address that all operations
 * share, and bodies that Node would have to read to their end, take the ordinary way and are refused there.
 */
import type { IncomingMessage } from 'node:http';
import type { Operation } from '../protocol/parse.ts';
import { type Admission, busyFault, retryAfterSeconds } from './admission.ts';
import { answerType, presentFault } from './present.ts';

/** @returns The body of the answer when the request is refused. */
export type Refusal = (incoming: Pick<IncomingMessage, 'method' | 'url' | 'headers'>) => string | undefined;

/**
 * How long a refusal waits before it is sent. To send an answer is most of what a refusal costs, whether or not the request
 * was read. Connections that ask again as soon as they are refused would take the process from what it has accepted; so each
 * of them is refused ten times a second at most.
 */
export const refusalPauseMs = 100;

export const retryHeader = { 'retry-after': String(retryAfterSeconds) };

const body = JSON.stringify(presentFault(busyFault));

export const refusalHeaders = {
  'content-type': answerType,
  'content-length': Buffer.byteLength(body),
  ...retryHeader,
};

const operations: ReadonlyMap<string | undefined, Operation> = new Map(
  (['sign', 'status', 'receipt', 'profile'] as const).map((operation) => [
    `/rest/service/${operation}`,
    operation,
  ]),
);

export const createRefusal =
  (admission: Pick<Admission, 'refuses'>, maxBodyBytes: number): Refusal =>
  ({ method, url, headers }) => {
    const operation = operations.get(url);
    if (operation === undefined || method !== 'POST') return undefined;
    // Also false for a body whose length is not announced.
    if (!(Number(headers['content-length']) <= maxBodyBytes)) return undefined;
    return admission.refuses(operation) ? body : undefined;
  };
