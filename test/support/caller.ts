/** Calls of `/workflows` as an application makes them. */
import { expect } from 'vitest';
import type { Json, TestProduct } from './product.ts';

interface CallOptions {
  readonly body?: unknown;
  readonly apId?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** AP_ID and AP_PWD are form-urlencoded, because an AP_ID has colons. */
export const basic = (apId: string, password = ''): string =>
  `Basic ${btoa(`${encodeURIComponent(apId)}:${encodeURIComponent(password)}`)}`;

export const callerOf = (product: () => TestProduct) => {
  const call = async (
    method: string,
    path: string,
    { body, apId = 'mid://ap.example', headers = {} }: CallOptions = {},
  ): Promise<{ status: number; body: Json; response: Response }> => {
    const response = await product().api.fetch(
      new Request(`http://test/workflows/${path}`, {
        method,
        headers: {
          authorization: basic(apId),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && {
          body:
            typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
        }),
      }),
    );
    return { status: response.status, body: await response.json(), response };
  };

  /** Waits until the instance is as wanted. */
  const until = async (
    path: string,
    wanted: (view: Json) => boolean,
    apId?: string,
  ): Promise<Json> => {
    const look = async (): Promise<Json> => (await call('GET', path, { apId })).body;
    let last: Json;
    await expect
      .poll(
        async () => {
          last = await look();
          return wanted(last) || last;
        },
        { timeout: 50_000, interval: 20 },
      )
      .toBe(true);
    return last;
  };

  return { call, until };
};
