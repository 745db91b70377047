/**
 * Signs a message and posts it, by Standard Webhooks: the id names the event and is the same in
 * every try, the time is that of the try, and the signature covers both and the body.
 */
import { Webhook } from 'standardwebhooks';
import type { Post } from '../../src/http/outgoing/post.ts';
import type { CallWebhook } from '../../src/http/outgoing/tellers.ts';
import type { LinkTo } from '../../src/part/rooms.ts';
import type { CallbackMessage, ProcessMessage } from './callback.machine.ts';
import type { Deliver } from './callback.worker.ts';
import type { CallbackProvider } from './configuration.ts';
import { callbackSecrets } from './secret.ts';

export const typeOfProcess = ({
  what,
  workflow,
}: Pick<ProcessMessage, 'what' | 'workflow'>): string =>
  what === 'told' ? 'process.failed' : `${workflow === undefined ? 'process' : 'workflow'}.${what}`;

const processMessageOf = (message: ProcessMessage, linkTo: LinkTo): string => {
  const { what, at, apId, process, workflow, url: _, notBefore: __, signer, ...data } = message;
  const about = workflow === undefined ? { process } : { workflow, id: process };
  const link = signer && linkTo(signer.instance, signer.linkVersion);
  return JSON.stringify({
    type: typeOfProcess({ what, workflow }),
    timestamp: new Date(at).toISOString(),
    data: { AP_ID: apId, ...about, ...data, link },
  });
};

/**
 * The body, with the names of the wire where it has them.
 *
 * It does not have the signature of the person, which only an authenticated answer returns. A
 * wrongly configured receiver, or a proxy that logs bodies, must not learn what a person has
 * signed.
 */
export const messageOf = (message: CallbackMessage, linkTo: LinkTo = () => undefined): string => {
  if ('process' in message) return processMessageOf(message, linkTo);
  const { msspTransId, apId, apTransId, attempt, at, end } = message;
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
  readonly post: Post;
}

interface DeliverOptions {
  readonly providers: readonly CallbackProvider[];
  readonly serviceKey: Uint8Array;
  /** Posts to addresses of the configuration. */
  readonly post: Post;
  /** Posts to addresses that applications write into definitions. */
  readonly postOutside: Post;
  readonly now: () => number;
}

/** Finds the target of each message. */
const createTargets = ({ providers, serviceKey, post, postOutside }: DeliverOptions) => {
  const targets = new Map<string, Target>();
  const webhooksOf = (apId: string, secretVersion: number): readonly Webhook[] =>
    callbackSecrets(serviceKey, apId, secretVersion).map((secret) => new Webhook(secret));
  for (const { id, callback } of providers) {
    if (callback === undefined) continue;
    targets.set(id, { url: callback.url, webhooks: webhooksOf(id, callback.secretVersion), post });
  }
  return {
    registered: (apId: string): Target | undefined => targets.get(apId),
    /**
     * The target for an address of a definition or a chart, with the secret of the application. The
     * operator has not checked it, so it reaches no internal host, unless the callback of the
     * application goes to that host, too.
     */
    at: (apId: string, url: string): Target => {
      const registered = targets.get(apId);
      const webhooks = registered?.webhooks ?? webhooksOf(apId, 1);
      const isRegistered =
        registered !== undefined &&
        URL.canParse(url) &&
        new URL(url).origin === new URL(registered.url).origin;
      return { url, webhooks, post: isRegistered ? post : postOutside };
    },
  };
};

/**
 * @param target Undefined when this process does not have the receiver in its configuration yet.
 */
const send = async (
  target: Target | undefined,
  { id, body, at }: { readonly id: string; readonly body: string; readonly at: number },
  stop: AbortSignal,
): ReturnType<Deliver> => {
  if (target === undefined)
    return { kind: 'not-sent', why: 'this process knows no callback of the application' };
  const time = new Date(at);
  return target.post(
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

export const createDeliver = (
  options: DeliverOptions & { readonly linkTo?: LinkTo | undefined },
): Deliver => {
  const { now, linkTo } = options;
  const targets = createTargets(options);
  return async (id, data, stop) => {
    const url = 'process' in data ? data.url : undefined;
    const target =
      'process' in data && url !== undefined
        ? targets.at(data.apId, url)
        : targets.registered(data.apId);
    return send(target, { id, body: messageOf(data, linkTo), at: now() }, stop);
  };
};

/** Makes the function by which charts call webhooks. */
export const createCallWebhook = (options: DeliverOptions): CallWebhook => {
  const targets = createTargets(options);
  return async ({ apId, id, url, body }, stop) => {
    const target = url === undefined ? targets.registered(apId) : targets.at(apId, url);
    return send(target, { id, body, at: options.now() }, stop);
  };
};
