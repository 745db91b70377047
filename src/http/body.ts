/** Reads the JSON of a request. */
import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import { type Checked, type Fault, fault } from '../../packages/protocol/src/fault.ts';
import { parseJson } from '../../packages/protocol/src/json.ts';
import {
  type Body,
  type BodyError,
  type BodyLimits,
  isInUtf8,
  mayBeCompressed,
  readBody,
} from './pages/request-body.ts';

/** The Hono environment of all routes. `incoming` is set for a request from a socket. */
export interface HttpEnvironment {
  readonly Bindings: { readonly incoming?: IncomingMessage };
}

const notJson: Checked<never> = {
  ok: false,
  fault: fault(101, 'Content-Type must be application/json'),
};

const compressed: Checked<never> = {
  ok: false,
  fault: fault(101, 'Body is compressed, which is not supported: send it without Content-Encoding'),
};

/** @returns A reader, whose result is the value, or fault 101 (kind, time) or 103 (size). */
export const createJsonReader = (limits: BodyLimits) => {
  const faults: Readonly<Record<BodyError, Fault>> = {
    bodyTooLarge: fault(103, `The request body is limited to ${limits.maxBytes} bytes`),
    bodyTooSlow: fault(101, 'The request body did not arrive in time'),
    bodyIncomplete: fault(101, 'The request body is incomplete'),
  };
  const parse = (body: Body, coding: string | undefined): Checked<unknown> => {
    if (!body.ok) return { ok: false, fault: faults[body.reason] };
    const read = parseJson(body.bytes);
    return read.ok || !mayBeCompressed(coding, body.bytes) ? read : compressed;
  };

  return (c: Context<HttpEnvironment>): Checked<unknown> | Promise<Checked<unknown>> => {
    const incoming = c.env?.incoming;
    // Read from Node's request: `Request` would first copy all headers into a `Headers` object.
    const type = incoming?.headers['content-type'] ?? c.req.header('content-type');
    if (!isInUtf8(type, 'application/json')) return notJson;
    const coding =
      incoming === undefined
        ? c.req.header('content-encoding')
        : incoming.headers['content-encoding'];
    const body = readBody(c.req.raw, incoming, limits);
    return body instanceof Promise ? body.then((read) => parse(read, coding)) : parse(body, coding);
  };
};
