/** Talks to the service. */

/**
 * @typedef {{
 *   readonly id: string,
 *   readonly kind: 'sign' | 'receipt',
 *   readonly from: string,
 *   readonly text: string,
 *   readonly dtbd?: string,
 *   readonly language?: string,
 *   readonly promptedAt: string,
 *   readonly deadline: string,
 *   readonly now: string,
 *   readonly toBeSigned: string,
 *   readonly assertion?: PublicKeyCredentialRequestOptionsJSON,
 * }} Prompt
 *   Of an approval, `text` is the title and `dtbd` the pairs as JSON; only these are signed.
 */

/**
 * Ends with `status` 0 when the service cannot be reached. `error` is the code of a refusal.
 *
 * @param {'GET' | 'POST' | 'PUT' | 'DELETE'} method
 * @param {string} path Below `/phone/api/`.
 * @param {object} [body]
 * @returns {Promise<{ readonly status: number, readonly answer: any }>}
 */
export const call = async (method, path, body) => {
  try {
    const response = await fetch(`/phone/api/${path}`, {
      method,
      cache: 'no-store',
      ...(method !== 'GET' && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body ?? {}),
      }),
    });
    return { status: response.status, answer: await response.json().catch(() => ({})) };
  } catch {
    return { status: 0, answer: {} };
  }
};

const retryMs = 2000;

/**
 * Follows the events of the service. One tab holds the connection and tells the others, because a
 * browser opens six connections to a server at most. When that tab goes, another takes its place.
 *
 * `open` and `closed` are about the connection; `changed` says that another tab has set up or
 * removed the phone.
 *
 * @param {(event: { readonly type: 'open' | 'closed' | 'changed' | 'prompt' | 'gone' | 'state',
 * readonly data?: any }) => void} handle
 * @returns Tells the other tabs that the phone has changed.
 */
export const follow = (handle) => {
  const channel = new BroadcastChannel('paraph-phone');
  channel.onmessage = ({ data }) => handle(data);
  /** @param {Parameters<typeof handle>[0]} event */
  const tell = (event) => {
    channel.postMessage(event);
    handle(event);
  };
  const connect = () => {
    const source = new EventSource('/phone/api/events');
    source.onopen = () => tell({ type: 'open' });
    source.onerror = () => {
      tell({ type: 'closed' });
      // After an answer that is no stream the browser does not try again by itself.
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, retryMs);
    };
    for (const type of /** @type {const} */ (['prompt', 'gone', 'state'])) {
      source.addEventListener(type, ({ data }) => tell({ type, data: data && JSON.parse(data) }));
    }
  };
  return {
    listen: () => {
      void navigator.locks.request('paraph-phone-events', () => {
        connect();
        // Held until the tab is closed.
        return new Promise(() => undefined);
      });
    },
    tellChanged: () => channel.postMessage({ type: 'changed' }),
  };
};
