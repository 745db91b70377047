/**
 * Signs a message and posts it, by Standard Webhooks: the id is the same at every try and names the
 * event, the time is that of the try, and the signature covers both and the body.
 */
import { Webhook } from 'standardwebhooks';
import type { CallbackData } from '../../machines/callback.machine.ts';
import type { Deliver } from '../../workers/callback.worker.ts';
import type { RegisteredProvider } from '../registry/application-providers.ts';
import type { Post } from './post.ts';
import { callbackSecrets } from './secret.ts';

/**
 * The body, in wire spelling where the wire has a name.
 *
 * Without the signature of the person: only an authenticated answer returns that. A misconfigured
 * receiver, or a proxy that logs bodies, must not learn what a person has signed.
 */
export const messageOf = ({ msspTransId, apId, apTransId, attempt, at, end }: CallbackData): string => {
  const about = { AP_ID: apId, AP_TransID: apTransId, MSSP_TransID: msspTransId, attempt };
  const base = { type: `transaction.${end.state}`, timestamp: new Date(at).toISOString() };
  switch (end.state) {
    case 'signed':
      return JSON.stringify({ ...base, data: { ...about, statusCode: end.statusCode } });
    case 'failed':
      return JSON.stringify({
        ...base,
        data: { ...about, fault: { code: `_${end.code}`, reason: end.reason } },
      });
    case 'receipted':
      return JSON.stringify({ ...base, data: { ...about, receipt: end.receipt } });
  }
};

interface Target {
  readonly url: string;
  readonly webhooks: readonly Webhook[];
}

export const createDeliver = (options: {
  readonly providers: readonly RegisteredProvider[];
  readonly masterKey: Uint8Array;
  readonly post: Post;
  readonly now: () => number;
}): Deliver => {
  const { providers, masterKey, post, now } = options;
  const targets = new Map<string, Target>();
  for (const { id, callback } of providers) {
    if (callback === undefined) continue;
    const secrets = callbackSecrets(masterKey, id, callback.secretVersion);
    targets.set(id, { url: callback.url, webhooks: secrets.map((secret) => new Webhook(secret)) });
  }
  return async (id, data, stop) => {
    const target = targets.get(data.apId);
    // While an application is being registered, not every process knows it.
    if (target === undefined)
      return { kind: 'not-sent', why: 'this process knows no callback of the application' };
    const body = messageOf(data);
    const time = new Date(now());
    return post(
      target.url,
      {
        'content-type': 'application/json',
        'user-agent': 'paraph',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
        'webhook-signature': target.webhooks.map((webhook) => webhook.sign(id, time, body)).join(' '),
      },
      body,
      stop,
    );
  };
};
