/**
 * The phone in the browser: the App SSCD of a person, who signs with a key that only the browser
 * has. The prompt is put where all phones of the number see it; the answer comes over HTTP
 * (`phone.route.ts`), by `transactions.answer`.
 */
import { Buffer } from 'node:buffer';
import type { ReceiptPrompt, SigningDevice } from '../../src/sscd/device.ts';
import type { MakeDevice } from '../../src/sscd/devices.ts';
import type { PhonePrompt, PhonePrompts } from './prompts.ts';

export interface PhoneOptions {
  readonly prompts: Pick<PhonePrompts, 'put' | 'find' | 'end'>;
  /** Wakes the phones of the number that are not connected. It must neither wait nor throw. */
  readonly wake?: ((msisdn: string, prompt: PhonePrompt) => void) | undefined;
  /** Milliseconds since the epoch, by the clock of Redis. */
  readonly now: () => number;
}

export const promptIdOf = (transactionId: string, attempt: number): string =>
  `${transactionId}.${attempt}`;
const receiptIdOf = ({ transactionId }: ReceiptPrompt): string => `${transactionId}.receipt`;

const createPhone = ({ prompts, wake, now }: PhoneOptions): SigningDevice => {
  const show = async (msisdn: string, prompt: PhonePrompt): Promise<void> => {
    await prompts.put(msisdn, prompt);
    wake?.(msisdn, prompt);
  };
  return {
    kind: 'phone',
    screen: true,
    upstream: undefined,
    prompt: async ({
      transactionId,
      attempt,
      msisdn,
      apId,
      data,
      nonce,
      language,
      promptedAt,
      deadline,
    }) => {
      await show(msisdn, {
        id: promptIdOf(transactionId, attempt),
        kind: 'sign',
        transactionId,
        attempt,
        apId,
        data,
        language,
        promptedAt,
        deadline,
        nonce: Buffer.from(nonce).toString('base64'),
      });
      return { kind: 'awaiting' };
    },
    withdraw: async ({ transactionId, attempt, msisdn }) => {
      const id = promptIdOf(transactionId, attempt);
      const found = await prompts.find(msisdn, id);
      const isLate = found?.kind === 'ended' && found.why === 'expired';
      await prompts.end(msisdn, id, { why: isLate ? 'expired' : 'elsewhere' });
    },
    receipt: async (prompt) => {
      const { transactionId, msisdn, apId, message, language, deadline, answerTo } = prompt;
      await show(msisdn, {
        id: receiptIdOf(prompt),
        kind: 'receipt',
        data: { kind: 'text', text: message },
        transactionId,
        attempt: 1,
        apId,
        nonce: '',
        language,
        promptedAt: now(),
        deadline,
        answerTo,
      });
      return { kind: 'later' };
    },
  };
};

/** One device serves all phones. */
export const phoneDevices = (options: PhoneOptions): MakeDevice => {
  const phone = createPhone(options);
  return ({ kind }) => (kind === 'phone' ? phone : undefined);
};
