/** What every device does, by the phone in the browser; and what its prompts leave behind. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { attributesToSign, completeCms } from '../../../packages/pki/src/cms.ts';
import { createKeyCustody } from '../../../packages/pki/src/custody.ts';
import type { DeviceAnswer } from '../../../packages/protocol/src/outcome.ts';
import { bytesToSign } from '../../../packages/protocol/src/requests.ts';
import type { Prompt } from '../../../src/sscd/device.ts';
import { createDevices } from '../../../src/sscd/devices.ts';
import { createOutbox } from '../../../src/sscd/text-gateway.ts';
import { describeDevice, personWith, sscdWith } from '../../../test/sscd/device-contract.ts';
import { createMemoryCustodyStore } from '../../../test/support/memory-custody-store.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { phoneDevices, promptIdOf } from '../device.ts';
import { createPhonePrompts } from '../prompts.ts';

const redis = testRedis();
const custody = createKeyCustody({
  store: createMemoryCustodyStore(),
  serviceKey: randomBytes(32),
  now: Date.now,
});
const now = () => 1_000_000;
const prompts = createPhonePrompts({
  redis: redis.client(),
  prefix: redis.prefix,
  serviceKey: randomBytes(32),
  now,
});
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** What a browser does: it signs the bytes that the prompt gives, for the prompt that it has. */
const signByHand = async ({ transactionId, attempt, msisdn }: Prompt): Promise<DeviceAnswer> => {
  const found = await prompts.find(msisdn, promptIdOf(transactionId, attempt));
  if (found?.kind !== 'open') throw new Error('The phone has no such prompt');
  const { certificates, id } = await custody.certify({ msisdn, sscdId: 'phone-a' }, publicKey);
  const content = bytesToSign(found.prompt.data);
  const nonce = Buffer.from(found.prompt.nonce, 'base64');
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  const signature = sign('sha256', attributesToSign(content, nonce), key);
  const cms =
    completeCms({ content, nonce, signature, certificate: certificates[0] }) ?? new Uint8Array();
  return { kind: 'signature', cms: Buffer.from(cms).toString('base64'), certificates: id };
};

describeDevice('the phone in the browser', () => {
  const sscd = sscdWith({ kind: 'phone' });
  const devices = createDevices({
    custody,
    gateway: createOutbox(redis.client(), redis.prefix, Date.now),
    kinds: [phoneDevices({ prompts, now })],
  });
  return {
    device: devices.deviceFor({ method: 'app', sscd }),
    custody,
    subscriber: personWith(sscd),
    sscd,
    answers: signByHand,
  };
});

describe('the prompts of a number that is asked often', () => {
  it('are forgotten an hour after their end or their deadline', async () => {
    let at = 1_000_000_000;
    const common = { redis: redis.client(), prefix: redis.prefix, serviceKey: randomBytes(32) };
    const often = createPhonePrompts({ ...common, now: () => at });
    const msisdn = '41791112299';
    const ask = async (id: string): Promise<void> => {
      const data = { kind: 'text', text: 'Yes?' } as const;
      const times = { promptedAt: at, deadline: at + 60_000 };
      await often.put(msisdn, {
        id,
        kind: 'sign',
        transactionId: id,
        attempt: 1,
        apId: 'ap',
        data,
        nonce: '',
        ...times,
      });
    };
    for (let count = 0; count < 40; count += 1) {
      await ask(`old${count}.1`);
      // Every fourth one has no end but its deadline.
      if (count % 4 > 0) await often.end(msisdn, `old${count}.1`, { why: 'elsewhere' });
    }
    at += 2 * 3_600_000;
    for (let count = 0; count < 40; count += 1) {
      await ask(`new${count}.1`);
      await often.end(msisdn, `new${count}.1`, { why: 'signed', by: 'a' });
    }
    const fields = await redis.client().hkeys(`${redis.prefix}:phone:${msisdn}:prompts`);
    expect(fields.filter((field) => field.includes('old'))).toEqual([]);
    expect(fields).toHaveLength(40);
    expect(await often.find(msisdn, 'new0.1')).toEqual({ kind: 'ended', why: 'signed', by: 'a' });
  });
});
