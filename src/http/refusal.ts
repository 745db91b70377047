/**
 * Early refusal when there is no room.
 *
 * A refusal must cost little. So a request to the address of an operation is refused before
 * anything of it is read. Requests to the shared address, and bodies that Node would have to read
 * to the end, are refused by their route.
 */
import type { IncomingMessage } from 'node:http';
import type { Operation } from '../protocol/parse.ts';
import { type Admission, busyFault, retryAfterSeconds } from './admission.ts';
import { answerType, presentFault } from './present.ts';

/** @returns The body of the answer when the request is refused. */
export type Refusal = (incoming: Pick<IncomingMessage, 'method' | 'url' | 'headers'>) => string | undefined;

/**
 * A refusal is delayed, because sending the answer is most of its cost: a client that asks again at
 * once is refused ten times a second at most on each connection.
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
  (['sign', 'status', 'receipt', 'profile'] as const).flatMap((operation) =>
    [`/rest/service/${operation}`, `/rest/service/${operation}/`].map((url) => [url, operation] as const),
  ),
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
