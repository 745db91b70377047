/**
 * Phones in browsers, scripted: people who look at their phone again and again, at either API, and
 * sign, cancel, sign twice at once or do nothing. Each notes what it was shown and told.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { openServiceKey } from '../../packages/pki/src/service-key.ts';
import { openAdmin } from '../../parts/phone/store.ts';
import { parseConfiguration } from '../../src/app/configuration/load.ts';
import { createKeySlots } from '../../src/app/key-slots.ts';
import { connectForCommands } from '../../src/redis/connect.ts';
import { createSubscriberRegistry } from '../../src/registry/subscribers.ts';
import { enrolPhone, type PhonePrompt, type ScriptedPhone } from '../support/phone.ts';
import { phoneSettingsOf } from '../support/phone-admin.ts';
import type { Random } from './random.ts';

/**
 * What a phone has seen, by the clock of this process.
 *
 * shown      The list of open prompts had it, `times` times.
 * signed     The service took its signature.
 * cancelled  The service took that the person does not sign.
 * gone       The service said that it had ended.
 */
export interface PhoneNote {
  readonly phone: string;
  /** `<MSSP_TransID>.<attempt>` */
  readonly prompt: string;
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly kind: 'shown' | 'signed' | 'cancelled' | 'gone';
  readonly times: number;
}

const lookEveryMs = 250;
const timeoutMs = 5000;

/** Asks a process that a balancer chooses. */
const anyOf =
  (urls: readonly string[], origin: string, random: Random) =>
  async (request: Request): Promise<Response> => {
    const url = random.pick(urls);
    const { pathname } = new URL(request.url);
    const headers = new Headers(request.headers);
    headers.set('origin', origin);
    const body = request.method === 'GET' ? null : await request.text();
    const signal = AbortSignal.timeout(timeoutMs);
    return fetch(`${url}${pathname}`, { method: request.method, headers, body, signal });
  };

/** Enrols a phone for each number, before anything is broken. */
export const enrolPhones = async (options: {
  readonly urls: readonly string[];
  /** Under which its pages are known. */
  readonly publicUrl: string;
  readonly redisUrl: string;
  readonly masterKey: Uint8Array;
  readonly random: Random;
  /** Of the service. */
  readonly configuration: object;
  /** Digits. */
  readonly msisdns: readonly string[];
}): Promise<readonly ScriptedPhone[]> => {
  const { urls, publicUrl: base, redisUrl, random, msisdns } = options;
  const loaded = parseConfiguration(JSON.stringify(options.configuration));
  if (!loaded.ok) throw new Error(loaded.problems.join('; '));
  const configuration = loaded.value;
  const redis = connectForCommands({ url: redisUrl }, Date.now);
  try {
    const slots = createKeySlots(redis, configuration.queue.prefix);
    const serviceKey = await openServiceKey(slots, options.masterKey);
    if (serviceKey === undefined) throw new Error('The service has no key yet');
    const { admin } = openAdmin({
      settings: phoneSettingsOf(configuration),
      redis,
      prefix: configuration.queue.prefix,
      serviceKey,
      configured: createSubscriberRegistry(configuration),
      now: Date.now,
      publicUrl: () => base,
      answer: async () => 'unknown',
      // Nobody is removed here.
      revoke: async () => undefined,
    });
    const phones: ScriptedPhone[] = [];
    for (const msisdn of msisdns) {
      const invited = await admin.invite(msisdn);
      if (invited.kind !== 'invited') throw new Error(`invitation: ${invited.kind}`);
      phones.push(
        await enrolPhone({ base, send: anyOf(urls, base, random) }, invited.link, {
          label: msisdn,
        }),
      );
    }
    return phones;
  } finally {
    redis.disconnect();
  }
};

/** @param until Aborts when nobody looks at the phones any more. */
export const usePhones = async (
  phones: readonly ScriptedPhone[],
  random: Random,
  until: AbortSignal,
): Promise<readonly PhoneNote[]> => {
  const notes: PhoneNote[] = [];

  const use = async (phone: ScriptedPhone): Promise<void> => {
    const note = (
      { id, text }: PhonePrompt,
      from: number,
      kind: PhoneNote['kind'],
      times = 1,
    ): void =>
      void notes.push({ phone: phone.id, prompt: id, text, from, to: Date.now(), kind, times });

    const send = async (prompt: PhonePrompt, kind: 'signed' | 'cancelled'): Promise<void> => {
      const from = Date.now();
      const { status } = await (kind === 'signed' ? phone.sign(prompt) : phone.cancel(prompt));
      if (status === 200) note(prompt, from, kind);
      if (status === 409) note(prompt, from, 'gone');
    };

    const act = async (prompt: PhonePrompt): Promise<void> => {
      const chance = random.below(10);
      if (chance < 5) await send(prompt, 'signed');
      else if (chance < 7) await Promise.all([send(prompt, 'signed'), send(prompt, 'signed')]);
      else if (chance < 8) await Promise.all([send(prompt, 'signed'), send(prompt, 'cancelled')]);
      else if (chance < 9) await send(prompt, 'cancelled');
    };

    while (!until.aborted) {
      try {
        const from = Date.now();
        const prompts = (await phone.prompts()).filter(({ kind }) => kind === 'sign');
        for (const prompt of new Map(prompts.map((each) => [each.id, each])).values()) {
          note(prompt, from, 'shown', prompts.filter(({ id }) => id === prompt.id).length);
          await act(prompt);
        }
      } catch {
        // The service or its Redis is away. What was sent may have been heard or not.
      }
      await delay(lookEveryMs, undefined, { signal: until }).catch(() => undefined);
    }
  };

  await Promise.all(phones.map(use));
  return notes;
};
