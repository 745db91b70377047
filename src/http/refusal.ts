/**
 * Refuses requests early when there is no room.
 *
 * A refusal must cost little. So a request to the address of an operation is refused before
 * anything of it is read. Requests to the shared address, and bodies that Node would have to read
 * to the end, are refused by their route.
 */
import type { IncomingMessage } from 'node:http';
import type { Fault } from '../../packages/protocol/src/fault.ts';
import type { Operation } from '../../packages/protocol/src/parse.ts';
import { type Admission, busyFault, retryAfterSeconds, unableFault } from './admission.ts';
import { answerType, presentFault } from './present.ts';

export interface RefusalAnswer {
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
}

/** @returns The answer, whose status is 500, when the request is refused. */
export type RefuseRequest = (
  incoming: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
) => RefusalAnswer | undefined;

/**
 * The delay of a refusal. Sending the answer is most of its cost, and with the delay a client that
 * asks again at once is refused at most ten times a second on each connection.
 */
export const refusalPauseMs = 100;

export const retryHeader = { 'retry-after': String(retryAfterSeconds) };

const answerOf = (why: Fault): RefusalAnswer => {
  const body = JSON.stringify(presentFault(why));
  return {
    body,
    headers: {
      'content-type': answerType,
      'content-length': Buffer.byteLength(body),
      ...retryHeader,
    },
  };
};

/** Answers that are made once, because refusals must cost little. */
const busyAnswer = answerOf(busyFault);
const unableAnswer = answerOf(unableFault);

const operations: ReadonlyMap<string | undefined, Operation> = new Map(
  (['sign', 'status', 'receipt', 'profile'] as const).flatMap((operation) =>
    [`/rest/service/${operation}`, `/rest/service/${operation}/`].map(
      (url) => [url, operation] as const,
    ),
  ),
);

export const createRefusal =
  (admission: Pick<Admission, 'refuses' | 'refusalOf'>, maxBodyBytes: number): RefuseRequest =>
  ({ method, url, headers }) => {
    const operation = operations.get(url);
    if (operation === undefined || method !== 'POST') return undefined;
    // Also false for a body whose length is not announced.
    if (!(Number(headers['content-length']) <= maxBodyBytes)) return undefined;
    if (!admission.refuses(operation)) return undefined;
    return admission.refusalOf(operation) === unableFault ? unableAnswer : busyAnswer;
  };
