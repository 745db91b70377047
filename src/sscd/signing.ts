import { Buffer } from 'node:buffer';
import type { DeviceAnswer } from '../../machines/outcome.ts';
import { signCms } from '../pki/cms.ts';
import type { KeyCustody } from '../pki/ports.ts';
import { bytesToSign } from '../protocol/requests.ts';
import type { Prompt } from './device.ts';

/**
 * Signs a prompt with the key of the SSCD it was put to.
 *
 * @throws When the prompt names no subscriber or SSCD: such a prompt has no key and must not get here.
 */
export const signPrompt = async (custody: KeyCustody, prompt: Prompt): Promise<DeviceAnswer> => {
  const { subscriber, sscd, msisdn, data, nonce } = prompt;
  if (subscriber === undefined || sscd === undefined) throw new Error('A prompt without an SSCD has no key');
  const key = await custody.userKey({
    msisdn,
    sscdId: sscd.id,
    algorithm: sscd.algorithm,
    expired: sscd.certificateExpired,
  });
  const cms = await signCms({ content: bytesToSign(data), key, nonce });
  return { kind: 'signature', cms: Buffer.from(cms).toString('base64'), certificates: key.chain.id };
};
