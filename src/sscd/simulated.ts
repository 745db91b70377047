/**
 * Devices that sign in place of hardware, with the keys of the service's own custody.
 *
 * robot      Signs everything, at once or after some seconds, during which its job sleeps.
 * simulated  A person whose behaviour is configured: signs, refuses with a fault, or never answers;
 *            likewise for a receipt. Has a screen, so a second request meets a busy phone.
 */
import { Buffer } from 'node:buffer';
import { signCms } from '../../packages/pki/src/cms.ts';
import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import { fault, isFaultCode } from '../../packages/protocol/src/fault.ts';
import type { DeviceAnswer } from '../../packages/protocol/src/outcome.ts';
import { bytesToSign } from '../../packages/protocol/src/requests.ts';
import type { SimulatedPerson } from '../registry/subscriber.ts';
import type { Prompt, ReceiptResult, SigningDevice } from './device.ts';

/**
 * Signs with a key of the service's own custody.
 *
 * @throws When the prompt names no subscriber or SSCD: such a prompt has no key.
 * @public For new devices.
 */
export const signPrompt = async (custody: KeyCustody, prompt: Prompt): Promise<DeviceAnswer> => {
  const { subscriber, sscd, msisdn, data, nonce } = prompt;
  if (subscriber === undefined || sscd === undefined)
    throw new Error('A prompt without an SSCD has no key');
  const key = await custody.userKey({
    msisdn,
    sscdId: sscd.id,
    algorithm: sscd.algorithm,
    expired: sscd.certificateExpired,
  });
  if (key.revocation !== undefined)
    return { kind: 'fault', fault: fault(422, 'Certificate is revoked') };
  const cms = await signCms({ content: bytesToSign(data), key, nonce });
  return {
    kind: 'signature',
    cms: Buffer.from(cms).toString('base64'),
    certificates: key.chain.id,
  };
};

export const createRobot = (custody: KeyCustody, thinkSeconds: number): SigningDevice => ({
  kind: 'robot',
  screen: false,
  upstream: undefined,
  prompt: async (prompt) => {
    const readyAt = prompt.promptedAt + thinkSeconds * 1000;
    if (prompt.now < readyAt) return { kind: 'awaiting', askAgainAt: readyAt };
    return { kind: 'answered', answer: await signPrompt(custody, prompt) };
  },
  receipt: async () => ({ kind: 'answered', receipt: 'accepted' }),
});

const receiptBehaviour: Record<SimulatedPerson['receipt'], ReceiptResult> = {
  accepts: { kind: 'answered', receipt: 'accepted' },
  cancels: { kind: 'answered', receipt: 'cancelled' },
  ignores: { kind: 'awaiting', lapsesAs: 'timeout' },
  'never-answers': { kind: 'awaiting', lapsesAs: 'unanswered' },
};

export const createPerson = (
  custody: KeyCustody,
  { sign, receipt }: SimulatedPerson,
): SigningDevice => ({
  kind: 'simulated',
  screen: true,
  upstream: undefined,
  prompt: async (prompt) => {
    if (sign === 'signs') return { kind: 'answered', answer: await signPrompt(custody, prompt) };
    if (sign === 'never-answers') return { kind: 'awaiting' };
    const code = isFaultCode(sign.fault) ? sign.fault : 900;
    return { kind: 'answered', answer: { kind: 'fault', fault: fault(code) } };
  },
  receipt: async () => receiptBehaviour[receipt],
});
