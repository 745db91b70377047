/**
 * Sends text messages: to an outbox that developers read (`paraph messages`), or to a webhook.
 *
 * A text contains a password. It is never logged, and the outbox forgets it after ten minutes.
 */
import type { RedisClient } from '../redis/connect.ts';
import type { Upstream } from './device.ts';

export interface TextMessage {
  /** The id of the text. It is the same for every try, so that a gateway sends the text once. */
  readonly id: string;
  readonly msisdn: string;
  readonly text: string;
  readonly flash: boolean;
}

/** `refused`: the gateway works, and rejects this message. */
export type SendResult =
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed'; readonly cause: string; readonly refused: boolean };

export interface TextGateway {
  /** Undefined for the outbox, which is in our own Redis. */
  readonly upstream: Upstream | undefined;
  send(message: TextMessage): Promise<SendResult>;
}

const outboxMs = 600_000;
const outboxKey = (prefix: string, msisdn: string): string => `${prefix}:outbox:${msisdn}`;

/** Texts by the time they were first sent; the same text sent again is the same member. */
export const createOutbox = (
  redis: RedisClient,
  prefix: string,
  now: () => number,
): TextGateway => ({
  upstream: undefined,
  send: async (message) => {
    const key = outboxKey(prefix, message.msisdn);
    const time = now();
    await redis
      .multi()
      .zremrangebyscore(key, '-inf', time - outboxMs)
      .zadd(key, 'NX', time, JSON.stringify(message))
      .pexpire(key, outboxMs)
      .exec();
    return { kind: 'sent' };
  },
});

/** What was sent to a number in the last ten minutes, oldest first. */
export const readOutbox = async (
  redis: RedisClient,
  prefix: string,
  msisdn: string,
  now: number,
): Promise<readonly TextMessage[]> =>
  (await redis.zrangebyscore(outboxKey(prefix, msisdn), now - outboxMs, '+inf')).map((text) =>
    JSON.parse(text),
  );

const usualTimeoutMs = 5000;

const isRefusal = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429;

/** POSTs `{ id, msisdn, text, flash }` as JSON, with `id` as `Idempotency-Key`. */
export const createWebhookGateway = (url: string, timeoutMs = usualTimeoutMs): TextGateway => ({
  upstream: { origin: new URL(url).origin, timeoutMs },
  send: async (message) => {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': message.id },
        body: JSON.stringify(message),
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      });
      await response.body?.cancel();
      const { ok, status } = response;
      if (ok) return { kind: 'sent' };
      return { kind: 'failed', cause: `gateway answered ${status}`, refused: isRefusal(status) };
    } catch (error) {
      const cause = error instanceof Error ? error.name : 'gateway is unreachable';
      return { kind: 'failed', cause, refused: false };
    }
  },
});
