/** HTTP calls of clients who go on whatever happens: no answer is an answer with status 0. */
import type { Json } from '../support/product.ts';

export interface Heard {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** 0 when there was no answer. */
  readonly status: number;
  /** Of an answer in JSON; otherwise the text. */
  readonly body: Json;
}

const withinMs = 10_000;

export const ask = async (url: string, init: RequestInit = {}): Promise<Heard> => {
  const from = Date.now();
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(withinMs),
      ...init,
    });
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    return {
      from,
      to: Date.now(),
      status: response.status,
      body: isJson ? JSON.parse(text) : text,
    };
  } catch {
    return { from, to: Date.now(), status: 0, body: undefined };
  }
};

/** Calls of `/workflows/<name>` as an application makes them. */
export const workflowCalls =
  (apId: string, name: string) =>
  (
    url: string,
    method: string,
    path: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Heard> =>
    ask(`${url}/workflows/${name}${path}`, {
      method,
      headers: {
        authorization: `Basic ${btoa(`${encodeURIComponent(apId)}:`)}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
