/**
 * One call to a client's notification endpoint: `auth_req_id`, with the token that the client has given for it.
 *
 * The library's own `backchannelPing` gives up after 2.5 seconds, tries once, and refuses addresses of private networks,
 * which is where many clients of an operator are. The address here is the operator's own word, from the configuration.
 *
 * Source: OpenID Connect CIBA section 10.2.
 */
import { setTimeout as delay } from 'node:timers/promises';

export interface Ping {
  readonly endpoint: string;
  readonly token: string;
  readonly authReqId: string;
}

/**
 * told     The client has it.
 * failed   It does not want it, or cannot be reached; `why` holds no secret.
 * stopped  This process is leaving, and another one must try.
 */
export type Notified =
  | { readonly kind: 'told' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'stopped' };

export interface NotifyOptions {
  readonly fetch: typeof globalThis.fetch;
  /** Between two tries; one more than there are pauses. */
  readonly pausesMs: readonly number[];
  readonly timeoutMs: number;
}

type Tried =
  | { readonly kind: 'told' }
  | { readonly kind: 'failed'; readonly why: string; readonly again: boolean };

/** Redirects are not followed: the token is for the configured address alone. */
const outcomeOf = (status: number): Tried =>
  status >= 200 && status < 300
    ? { kind: 'told' }
    : { kind: 'failed', why: `status ${status}`, again: status >= 500 };

export const createNotify = ({ fetch, pausesMs, timeoutMs }: NotifyOptions) => {
  const call = async ({ endpoint, token, authReqId }: Ping, gone: AbortSignal): Promise<Tried> => {
    try {
      const response = await fetch(endpoint, {
        method: 'POST',
        redirect: 'manual',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ auth_req_id: authReqId }),
        signal: AbortSignal.any([gone, AbortSignal.timeout(timeoutMs)]),
      });
      await response.body?.cancel();
      return outcomeOf(response.status);
    } catch (error) {
      // The message may quote the request; its kind does not.
      return { kind: 'failed', why: error instanceof Error ? error.name : 'unknown', again: true };
    }
  };

  /** Never rejects. */
  return async (ping: Ping, gone: AbortSignal): Promise<Notified> => {
    for (const pauseMs of [...pausesMs, undefined]) {
      const tried = await call(ping, gone);
      if (tried.kind === 'told') return tried;
      if (gone.aborted) return { kind: 'stopped' };
      if (!tried.again || pauseMs === undefined) return { kind: 'failed', why: tried.why };
      await delay(pauseMs, undefined, { signal: gone }).catch(() => undefined);
      if (gone.aborted) return { kind: 'stopped' };
    }
    return { kind: 'failed', why: 'never tried' };
  };
};
