/**
 * Web Push: wakes phones that are not connected. A message says only that there is something to
 * look at, and the page then asks for its state: the push service learns neither text nor number.
 *
 * It is sent once and nobody waits for it. A phone that it does not reach shows the prompt when its
 * page is opened.
 *
 * Sources: RFC 8030, RFC 8188, RFC 8291, RFC 8292.
 */
import { createCipheriv, createECDH, createPrivateKey, hkdfSync, randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import type { Phone, Phones, Subscription } from './phones.ts';
import type { PhonePrompt } from './prompts.ts';

export interface VapidKeys {
  /** `mailto:` or `https:`, for the operators of push services. */
  readonly subject: string;
  /** Base64url. */
  readonly publicKey: string;
  readonly privateKey: string;
}

/** POSTs to an address that a browser has named, and never into the operator's network. */
export type PushPost = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
) => Promise<{ readonly kind: string; readonly status?: number }>;

export interface PushOptions {
  readonly vapid: VapidKeys;
  readonly phones: Pick<Phones, 'read' | 'removeSubscription'>;
  readonly post: PushPost;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64url');
const derive = (
  secret: Uint8Array,
  salt: Uint8Array,
  info: Uint8Array | string,
  length: number,
): Buffer => Buffer.from(hkdfSync('sha256', secret, salt, info, length));

const recordBytes = 4096;
/** The last record, and here the only one, ends with this octet. */
const lastRecord = Buffer.of(2);
/** A push service accepts at most a day (RFC 8292 section 2). */
const tokenSeconds = 43_200;
/** The time that a push service keeps the news of another phone for a device that is off. */
const enrolledMs = 7 * 86_400_000;

/** @throws When the browser's key is not a point of P-256. */
const encrypt = ({ keys }: Subscription, payload: object): Buffer => {
  const theirs = bytesOf(keys.p256dh);
  const pair = createECDH('prime256v1');
  const ours = pair.generateKeys();
  const salt = randomBytes(16);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), theirs, ours]);
  const secret = derive(pair.computeSecret(theirs), bytesOf(keys.auth), info, 32);
  const key = derive(secret, salt, 'Content-Encoding: aes128gcm\0', 16);
  const nonce = derive(secret, salt, 'Content-Encoding: nonce\0', 12);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const content = [
    cipher.update(JSON.stringify(payload), 'utf8'),
    cipher.update(lastRecord),
    cipher.final(),
  ];
  const size = Buffer.alloc(4);
  size.writeUInt32BE(recordBytes);
  return Buffer.concat([salt, size, Buffer.of(ours.length), ours, ...content, cipher.getAuthTag()]);
};

/** Says who sends (VAPID). @param at Milliseconds since the epoch. */
const authorization = async (
  { subject, publicKey, privateKey }: VapidKeys,
  endpoint: string,
  at: number,
): Promise<string> => {
  const point = bytesOf(publicKey);
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) =>
    part.toString('base64url'),
  );
  const jwk = { kty: 'EC', crv: 'P-256', x, y, d: privateKey } as const;
  const token = await new SignJWT()
    .setProtectedHeader({ typ: 'JWT', alg: 'ES256' })
    .setAudience(new URL(endpoint).origin)
    .setSubject(subject)
    .setExpirationTime(Math.floor(at / 1000) + tokenSeconds)
    .sign(createPrivateKey({ key: jwk as never, format: 'jwk' }));
  return `vapid t=${token}, k=${publicKey}`;
};

/** The subscription has ended. */
const isGone = (status: number | undefined): boolean => status === 404 || status === 410;

export const createPush = ({ vapid, phones, post, now, onError }: PushOptions) => {
  const sending = new Set<Promise<void>>();

  const send = async (phone: Phone, message: object, until: number): Promise<void> => {
    if (phone.subscription === undefined) return;
    const ttl = Math.ceil((until - now()) / 1000);
    if (ttl <= 0) return;
    const { endpoint } = phone.subscription;
    const headers = {
      authorization: await authorization(vapid, endpoint, now()),
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      ttl: String(ttl),
      urgency: 'high',
    };
    const result = await post(endpoint, headers, encrypt(phone.subscription, message));
    if (result.kind === 'answered' && isGone(result.status)) await phones.removeSubscription(phone);
  };

  /** @param without Id of a phone that gets none. */
  const sendAll = (msisdn: string, message: object, until: number, without?: string): void => {
    const sendEach = async (): Promise<void> => {
      const all = (await phones.read(msisdn))?.phones ?? [];
      await Promise.all(
        all.filter(({ id }) => id !== without).map((phone) => send(phone, message, until)),
      );
    };
    const sent: Promise<void> = sendEach()
      .catch((error: unknown) => onError(toError(error)))
      .finally(() => sending.delete(sent));
    sending.add(sent);
  };

  return {
    wake: (msisdn: string, { id, deadline }: PhonePrompt): void =>
      sendAll(msisdn, { kind: 'prompt', id }, deadline),
    /** Another phone was set up for the number. @param phone Its id. */
    tellOthers: (msisdn: string, phone: string): void =>
      sendAll(msisdn, { kind: 'enrolled' }, now() + enrolledMs, phone),
    /** Waits for messages in hand. */
    close: async (): Promise<void> => {
      await Promise.all(sending);
    },
  };
};
