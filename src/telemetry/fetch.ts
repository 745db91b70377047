import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Bindings {
  readonly incoming?: IncomingMessage;
  readonly outgoing?: ServerResponse;
}

/** What answers requests: the application, and whatever is put around it. */
export type Fetch = (request: Request, bindings?: Bindings) => Response | Promise<Response>;

/** The OpenID library writes to the socket itself; what comes back from it then only says so. */
const alreadySent = 'x-hono-already-sent';

/** The status that the caller has seen. */
export const statusOf = (response: Response, bindings: Bindings | undefined): number =>
  bindings?.outgoing !== undefined && response.headers.has(alreadySent)
    ? bindings.outgoing.statusCode
    : response.status;
