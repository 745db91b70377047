/**
 * What every signing device promises, whatever it is. A device of the core runs through
 * this in devices.test.ts, and one of a part in the part's own test.
 */
import { describe, expect, it } from 'vitest';
import { attachCertificates } from '../../packages/pki/src/cms.ts';
import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import { verifySignature } from '../../packages/pki/src/verify.ts';
import type { DeviceAnswer } from '../../packages/protocol/src/outcome.ts';
import {
  bytesToSign,
  type DataToBeSigned,
  type SignatureRequest,
} from '../../packages/protocol/src/requests.ts';
import type { DeviceSpec, Sscd, Subscriber } from '../../src/registry/subscriber.ts';
import type { Prompt, ReceiptPrompt, SigningDevice } from '../../src/sscd/device.ts';
import { nonceOf } from '../../src/transactions/ids.ts';

export interface DeviceUnderTest {
  readonly device: SigningDevice;
  readonly custody: KeyCustody;
  readonly subscriber: Subscriber | undefined;
  readonly sscd: Sscd | undefined;
  /** Of a device whose answer another process brings: what the person answers. */
  readonly answers?: (prompt: Prompt) => Promise<DeviceAnswer>;
  /** What happens in the world before a device is asked again: the thing that it waits for. */
  readonly meanwhile?: () => void | Promise<void>;
  /** Another service signs: the nonce is of its own transaction. */
  readonly signsElsewhere?: true;
}

const texts: readonly DataToBeSigned[] = [
  { kind: 'text', text: 'Sign in to Example?' },
  { kind: 'text', text: 'Größe: 5 €, naïve 漢字 😀' },
  { kind: 'transaction-approval', text: '{}', dtbd: '[{"key":"Amount","value":"CHF 10"}]' },
];

const requestFor = (data: DataToBeSigned): SignatureRequest => ({
  caller: {
    apId: 'http://test.example',
    apPassword: undefined,
    apTransId: 'T1',
    instant: '2026-01-01T00:00:00.000Z',
    msspUri: 'http://mid.vendor.ch/',
  },
  msisdn: { written: '+41791234567', number: '41791234567' },
  messagingMode: 'asynch',
  profile: { authority: 'mid.vendor.ch', name: data.kind === 'text' ? 'Any-LoA4' : 'Device-LoA4' },
  timeoutSeconds: 60,
  data,
  services: {},
});

let transactions = 0;

export const describeDevice = (name: string, make: () => DeviceUnderTest): void => {
  const promptFor = ({ subscriber, sscd }: DeviceUnderTest, data: DataToBeSigned): Prompt => ({
    transactionId: `H00transaction${++transactions}`,
    attempt: 1,
    apId: 'http://test.example',
    msisdn: subscriber?.msisdn ?? '41791234567',
    subscriber,
    sscd,
    data,
    nonce: nonceOf('H00transaction', transactions),
    language: 'en',
    promptedAt: 1_000_000,
    now: 1_000_000,
    deadline: 1_060_000,
    request: requestFor(data),
  });

  /**
   * Asks as the worker does: again at the time that the device names, until it answers or waits for
   * another process to answer.
   */
  const askOn = async ({ device, meanwhile, answers }: DeviceUnderTest, first: Prompt) => {
    let prompt = first;
    for (let asked = 0; asked < 10; asked += 1) {
      const result = await device.prompt(prompt);
      if (result.kind === 'awaiting' && result.askAgainAt === undefined && answers !== undefined)
        return { kind: 'answered', answer: await answers(prompt) } as const;
      if (result.kind !== 'awaiting' || result.askAgainAt === undefined) return result;
      expect(result.askAgainAt).toBeGreaterThan(prompt.now);
      await meanwhile?.();
      prompt = { ...prompt, now: result.askAgainAt };
    }
    throw new Error('The device was asked ten times: does `meanwhile` bring what it waits for?');
  };

  describe(name, () => {
    it('answers in plain data that survives storage', async () => {
      const subject = make();
      for (const data of texts) {
        const result = await askOn(subject, promptFor(subject, data));
        expect(JSON.parse(JSON.stringify(result))).toEqual(result);
      }
    });

    it('signs exactly the bytes it was shown, or nothing', async () => {
      const subject = make();
      const { custody } = subject;
      for (const data of texts) {
        const prompt = promptFor(subject, data);
        const result = await askOn(subject, prompt);
        if (result.kind !== 'answered' || result.answer.kind !== 'signature') continue;
        const { cms, certificates } = result.answer;
        const chain = certificates === undefined ? undefined : await custody.chain(certificates);
        const bytes = Buffer.from(cms, 'base64');
        const complete =
          chain === undefined ? bytes : attachCertificates(bytes, chain.certificates);
        const verified = verifySignature(complete, bytesToSign(data), {
          trust: await custody.trust(),
        });
        expect(verified).toMatchObject({ ok: true });
        if (subject.signsElsewhere) continue;
        // By which the worker knows that it is for this prompt.
        expect(verified.ok && Buffer.from(verified.nonce ?? [])).toEqual(Buffer.from(prompt.nonce));
      }
    });

    it('gives the same kind of answer however often the same attempt is put to it', async () => {
      const subject = make();
      const prompt = promptFor(subject, { kind: 'text', text: 'Sign in?' });
      const kinds = new Set<string>();
      for (let times = 0; times < 3; times += 1) {
        const result = await askOn(subject, prompt);
        kinds.add(result.kind === 'answered' ? result.answer.kind : result.kind);
      }
      expect(kinds.size).toBe(1);
    });

    it('serves requests of many transactions at once', async () => {
      const subject = make();
      const results = await Promise.all(
        Array.from({ length: 20 }, () =>
          askOn(subject, promptFor(subject, { kind: 'text', text: 'Sign in?' })),
        ),
      );
      expect(new Set(results.map(({ kind }) => kind)).size).toBe(1);
    });

    it('says what becomes of a receipt, now or when it lapses', async () => {
      const subject = make();
      const prompt: ReceiptPrompt = {
        transactionId: `H00transaction${++transactions}`,
        apId: 'http://test.example',
        answerTo: 'token',
        msisdn: subject.subscriber?.msisdn ?? '41791234567',
        subscriber: subject.subscriber,
        sscd: subject.sscd,
        message: 'Signed in.',
        language: 'en',
        deadline: 1_060_000,
      };
      const result = await subject.device.receipt(prompt);
      const says =
        result.kind === 'answered'
          ? result.receipt
          : result.kind === 'awaiting'
            ? result.lapsesAs
            : result.kind;
      expect(['accepted', 'cancelled', 'timeout', 'unanswered', 'later']).toContain(says);
    });
  });
};

export const sscdWith = (device: DeviceSpec, algorithm: Sscd['algorithm'] = 'EC'): Sscd => ({
  kind: 'sim',
  id: 'sim',
  state: 'ACTIVE',
  suspended: false,
  pinBlocked: false,
  algorithm,
  certificateState: 'ACTIVE',
  certificateExpired: false,
  device,
});

export const personWith = (sim: Sscd): Subscriber => ({
  msisdn: '41791112233',
  language: 'en',
  sim,
  apps: [],
  carrier: undefined,
  location: { sim: undefined, app: undefined },
  autoActivation: false,
  recoveryCodeCreated: false,
  alwaysFaults: undefined,
});
