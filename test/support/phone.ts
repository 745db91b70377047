/**
 * A phone as the page in the browser is one, without the page: it makes its own key, wraps it under
 * a PIN, and speaks the API over any `fetch`. What a browser keeps (wrapped key, salt, cookie) is
 * in `kept`, so that a test can kill it and go on.
 */
import { hash, webcrypto } from 'node:crypto';
import * as pkijs from 'pkijs';
import type { Passkey } from './passkey.ts';
import type { Json } from './product.ts';

const { subtle } = webcrypto;
const p256 = { name: 'ECDSA', namedCurve: 'P-256' };
const withSha256 = { name: 'ECDSA', hash: 'SHA-256' };
/** A browser takes 600 000; the service cannot tell. */
const iterations = 1000;

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.from(text, 'base64url'));
const textOf = (bytes: ArrayBuffer | Uint8Array): string =>
  Buffer.from(bytes as Uint8Array).toString('base64url');
const random = (length: number): Uint8Array<ArrayBuffer> =>
  webcrypto.getRandomValues(new Uint8Array(length));

type Send = (request: Request) => Response | Promise<Response>;

export interface PhonePrompt {
  readonly id: string;
  readonly kind: 'sign' | 'receipt';
  readonly from: string;
  readonly text: string;
  readonly dtbd?: string;
  readonly language: string;
  readonly deadline: string;
  readonly toBeSigned: string;
  readonly assertion?: Json;
}

export interface Answered {
  readonly status: number;
  readonly body: Json;
}

/** What is stored in the browser. */
interface Kept {
  cookie: string;
  wrapped: Uint8Array<ArrayBuffer>;
  iv: Uint8Array<ArrayBuffer>;
  salt: Uint8Array<ArrayBuffer>;
  recoveryCode: string;
  certificate: string;
}

const stretch = async (pin: string, salt: Uint8Array<ArrayBuffer>) => {
  const key = await subtle.importKey('raw', new TextEncoder().encode(pin), 'PBKDF2', false, [
    'deriveBits',
  ]);
  const bits = await subtle.deriveBits(
    { name: 'PBKDF2', hash: 'SHA-256', salt, iterations },
    key,
    512,
  );
  return { wrapHalf: bits.slice(0, 32), verifier: textOf(bits.slice(32)) };
};

const wrappingKey = async (wrapHalf: ArrayBuffer, share: string): Promise<webcrypto.CryptoKey> => {
  const key = await subtle.importKey('raw', wrapHalf, 'HKDF', false, ['deriveKey']);
  const from = { name: 'HKDF', hash: 'SHA-256', salt: bytesOf(share), info: new Uint8Array() };
  return subtle.deriveKey(from, key, { name: 'AES-GCM', length: 256 }, false, [
    'wrapKey',
    'unwrapKey',
  ]);
};

/** PKCS #10, DER, signed by its own key. */
export const certificationRequest = async (
  pair: webcrypto.CryptoKeyPair,
): Promise<Uint8Array<ArrayBuffer>> => {
  const request = new pkijs.CertificationRequest();
  await request.subjectPublicKeyInfo.importKey(pair.publicKey as never);
  request.attributes = [];
  await request.sign(pair.privateKey as never, 'SHA-256');
  return new Uint8Array(request.toSchema().toBER());
};

export const newKeyPair = (): Promise<webcrypto.CryptoKeyPair> =>
  subtle.generateKey(p256, true, ['sign', 'verify']);

/** @param link `…#activate=<id>.<secret>`. */
export const codeIn = (
  link: string,
): { readonly id: string; readonly secret: Uint8Array<ArrayBuffer> } => {
  const [id = '', secret = ''] = (link.split('#activate=')[1] ?? '').split('.');
  return { id, secret: bytesOf(secret) };
};

/**
 * Of a PIN: its kind, salt and verifier; of a passkey: its kind and three members of the response.
 */
const gateParts = ({ kind, salt, verifier, response }: Json): readonly string[] =>
  kind === 'pin'
    ? [kind, salt, verifier]
    : [kind, response.id, response.response.clientDataJSON, response.response.attestationObject];

export const macOf = async (
  secret: Uint8Array<ArrayBuffer>,
  request: Uint8Array<ArrayBuffer>,
  gate: Json,
): Promise<string> => {
  const key = await subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey']);
  const info = new TextEncoder().encode('paraph phone activation');
  const from = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info };
  const mac = await subtle.deriveKey(
    from,
    key,
    { name: 'HMAC', hash: 'SHA-256', length: 256 },
    false,
    ['sign'],
  );
  return textOf(
    await subtle.sign(
      'HMAC',
      mac,
      Buffer.concat([request, Buffer.from(gateParts(gate).join(' '))]),
    ),
  );
};

export type ScriptedPhone = Awaited<ReturnType<typeof enrolPhone>>;

/** The API, as a page of the service calls it. */
export const createPhoneCalls = (base: string, send: Send) => {
  let cookie = '';
  const call = async (method: string, path: string, body?: unknown): Promise<Answered> => {
    const headers = { ...(cookie && { cookie }), origin: base, 'content-type': 'application/json' };
    const response = await send(
      new Request(`${base}/phone/api/${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    const set = response.headers.get('set-cookie');
    if (set !== null) cookie = set.split(';')[0] ?? '';
    return { status: response.status, body: await response.json() };
  };
  return {
    call,
    cookie: () => cookie,
    setCookie: (value: string) => {
      cookie = value;
    },
    /** Server-sent events, as they come. */
    events: async function* (signal: AbortSignal): AsyncGenerator<{ event: string; data: Json }> {
      const request = new Request(`${base}/phone/api/events`, { headers: { cookie }, signal });
      const response = await send(request);
      if (response.status !== 200 || response.body === null)
        throw new Error(`events: ${response.status}`);
      yield { event: 'open', data: undefined };
      const reader = response.body
        .pipeThrough(new TextDecoderStream() as never)
        .getReader() as never as {
        read(): Promise<{ done: boolean; value: string }>;
        cancel(): Promise<void>;
      };
      signal.addEventListener('abort', () => void reader.cancel().catch(() => undefined), {
        once: true,
      });
      let text = '';
      for (;;) {
        const { done, value } = await reader.read().catch(() => ({ done: true, value: '' }));
        if (done) return;
        text += value;
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) {
          const [, event, data] = /^event: (.*)\ndata: (.*)$/m.exec(block) ?? [];
          if (event !== undefined) yield { event, data: JSON.parse(data ?? 'null') };
        }
      }
    },
  };
};

const wrap = async (key: webcrypto.CryptoKey, wrapHalf: ArrayBuffer, share: string) => {
  const iv = random(12);
  const wrapped = await subtle.wrapKey('pkcs8', key, await wrappingKey(wrapHalf, share), {
    name: 'AES-GCM',
    iv,
  });
  return { iv, wrapped: new Uint8Array(wrapped) };
};

/**
 * Enrols with a PIN, or with a passkey.
 *
 * @param base Where the service is; also the origin of its pages.
 * @throws With the answer, when the service refuses.
 */
export const enrolPhone = async (
  { base, send }: { readonly base: string; readonly send: Send },
  link: string,
  {
    pin = '123456',
    label = 'Scripted',
    passkey,
  }: { readonly pin?: string; readonly label?: string; readonly passkey?: Passkey } = {},
) => {
  const calls = createPhoneCalls(base, send);
  const { call } = calls;
  const pair = await newKeyPair();
  const request = await certificationRequest(pair);
  const { id, secret } = codeIn(link);
  const salt = random(16);
  const { wrapHalf, verifier } = await stretch(pin, salt);
  const created = passkey?.create(
    (await call('POST', 'enrolments/options', { code: { id } })).body.publicKey,
  );
  const pinGate = { kind: 'pin', salt: textOf(salt), verifier };
  const gate: Json = created === undefined ? pinGate : { kind: 'passkey', response: created };
  const asked = {
    code: { id, mac: await macOf(secret, request, gate) },
    request: Buffer.from(request).toString('base64'),
    gate,
    language: 'en',
    label,
  };
  const { status, body } = await call('POST', 'enrolments', asked);
  if (status !== 201) throw new Error(`enrolment: ${status} ${JSON.stringify(body)}`);
  const kept: Kept = {
    cookie: calls.cookie(),
    salt,
    recoveryCode: body.recoveryCode,
    certificate: body.certificate,
    ...(await wrap(pair.privateKey, wrapHalf, body.pin?.share ?? '')),
  };

  const state = () => call('GET', 'state');
  const prompts = async (): Promise<readonly PhonePrompt[]> => (await state()).body.prompts ?? [];
  const enterPin = async (entered = pin): Promise<Answered> =>
    call('POST', 'pin', { verifier: (await stretch(entered, kept.salt)).verifier });

  /** The key is there for one signature. @throws When the PIN was wrong. */
  const unlock = async (entered = pin): Promise<webcrypto.CryptoKey> => {
    if (passkey !== undefined) return pair.privateKey;
    const answered = await enterPin(entered);
    if (answered.status !== 200)
      throw new Error(`pin: ${answered.status} ${JSON.stringify(answered.body)}`);
    const half = (await stretch(entered, kept.salt)).wrapHalf;
    const wrapping = await wrappingKey(half, answered.body.share);
    const { iv, wrapped } = kept;
    return subtle.unwrapKey('pkcs8', wrapped, wrapping, { name: 'AES-GCM', iv }, p256, false, [
      'sign',
    ]);
  };

  /** What the page computes from what it shows. */
  const shownDigest = ({ text, dtbd }: PhonePrompt): Buffer =>
    hash(
      'sha256',
      dtbd === undefined ? text : JSON.stringify({ format_version: 1, content_string: dtbd }),
      'buffer',
    );

  const signatureOf = async (prompt: PhonePrompt, key: webcrypto.CryptoKey): Promise<string> => {
    const bytes = Buffer.from(prompt.toBeSigned, 'base64');
    if (!bytes.includes(shownDigest(prompt)))
      throw new Error('The prompt shows something else than is signed');
    return textOf(await subtle.sign(withSha256, key, bytes));
  };
  const path = (prompt: Pick<PhonePrompt, 'id'>, act: string): string =>
    `prompts/${prompt.id}/${act}`;

  return {
    calls,
    call,
    id: body.phone as string,
    enrolment: { asked, body },
    kept,
    state,
    prompts,
    enterPin,
    unlock,
    signatureOf,

    /** Waits for the next prompt that is open. */
    prompted: async (kind: PhonePrompt['kind'] = 'sign', ms = 20_000): Promise<PhonePrompt> => {
      for (const until = Date.now() + ms; ; ) {
        const [prompt] = (await prompts()).filter((each) => each.kind === kind);
        if (prompt !== undefined) return prompt;
        if (Date.now() > until) throw new Error('No prompt came');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    sign: async (prompt: PhonePrompt, entered = pin): Promise<Answered> => {
      const signature = await signatureOf(prompt, await unlock(entered));
      const assertion = passkey?.get(prompt.assertion);
      return call('POST', path(prompt, 'signature'), {
        signature,
        ...(assertion && { assertion }),
      });
    },
    cancel: (prompt: PhonePrompt): Promise<Answered> => call('POST', path(prompt, 'cancel')),
    react: (prompt: PhonePrompt, outcome: 'accepted' | 'cancelled'): Promise<Answered> =>
      call('POST', path(prompt, 'receipt'), { outcome }),
    /** The page opens its key with the recovery code; here the key is known. */
    recover: async (code: string, newPin: string): Promise<Answered> => {
      const again = random(16);
      const stretched = await stretch(newPin, again);
      const gate = { kind: 'pin', salt: textOf(again), verifier: stretched.verifier };
      const answered = await call('POST', 'recovery', { code, gate });
      if (answered.status === 200) {
        const made = await wrap(pair.privateKey, stretched.wrapHalf, answered.body.pin.share);
        Object.assign(kept, made, { salt: again, recoveryCode: answered.body.recoveryCode });
      }
      return answered;
    },
    leave: (): Promise<Answered> => call('DELETE', 'phone'),
  };
};
