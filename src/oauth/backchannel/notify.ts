/**
 * One call to a client's notification endpoint: `auth_req_id`, with the token that the client has given for it.
 *
 * The library's own `backchannelPing` gives up after 2.5 seconds, tries once, and refuses addresses of private networks,
 * which is where many clients of an operator are. The address here is the operator's own word, from the configuration.
 *
 * Source: OpenID Connect CIBA section 10.2.
 */
export interface Notification {
  readonly endpoint: string;
  readonly token: string;
  readonly authReqId: string;
}

/**
 * told     The client has it.
 * failed   It may be different next time; `why` holds no secret.
 * refused  It will not be.
 */
export type Notified =
  | { readonly kind: 'told' }
  | { readonly kind: 'failed' | 'refused'; readonly why: string };

/** Redirects are not followed: the token is for the configured address alone. */
const outcomeOf = (status: number): Notified =>
  status >= 200 && status < 300
    ? { kind: 'told' }
    : { kind: status >= 500 ? 'failed' : 'refused', why: `status ${status}` };

/** Never rejects. */
export const notify = async (
  { endpoint, token, authReqId }: Notification,
  { fetch, signal }: { readonly fetch: typeof globalThis.fetch; readonly signal: AbortSignal },
): Promise<Notified> => {
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ auth_req_id: authReqId }),
      signal,
    });
    await response.body?.cancel();
    return outcomeOf(response.status);
  } catch (error) {
    // The message may quote the request; its kind does not.
    return { kind: 'failed', why: error instanceof Error ? error.name : 'unknown' };
  }
};
