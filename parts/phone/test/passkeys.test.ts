import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPasskey } from '../../../test/support/passkey.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { createPhones } from '../phones.ts';
import { newNumber, origin, type PhoneStage, startPhoneStage } from './stage.ts';

const redis = testRedis();
let stage: PhoneStage;

beforeAll(async () => {
  stage = await startPhoneStage(redis);
});
afterAll(() => stage.product.stop());

describe('a phone with a passkey', () => {
  it('signs when its user was verified for this prompt', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn, { passkey: createPasskey(origin) });
    expect(phone.enrolment.body.recoveryCode).toBeUndefined();
    expect((await phone.state()).body.gate).toEqual({ kind: 'passkey' });
    for (const text of ['First', 'Second']) {
      const id = await stage.product.submit({ msisdn, text });
      expect((await phone.sign(await phone.prompted())).status).toBe(200);
      await stage.ended(id, '500');
    }
  });

  it.each([
    ['nobody was verified', () => createPasskey(origin, false)],
    ['the passkey is of another origin', () => createPasskey('https://evil.example')],
  ])('is not enrolled when %s', async (_, passkey) => {
    await expect(stage.enrol(newNumber(), { passkey: passkey() })).rejects.toThrow('403');
  });

  it('does not sign with another passkey, without one, or with the proof for another prompt', async () => {
    const msisdn = newNumber();
    const passkey = createPasskey(origin);
    const phone = await stage.enrol(msisdn, { passkey });
    await stage.product.submit({ msisdn, text: 'Before' });
    const before = await phone.prompted();
    await phone.cancel(before);
    await stage.product.submit({ msisdn, text: 'Now' });
    const prompt = await phone.prompted();
    const signature = await phone.signatureOf(prompt, await phone.unlock());
    const send = (assertion?: unknown) =>
      phone.call('POST', `prompts/${prompt.id}/signature`, {
        signature,
        ...(assertion !== undefined && { assertion }),
      });
    const stolen = createPasskey(origin).get(prompt.assertion);
    for (const assertion of [undefined, stolen, passkey.get(before.assertion)]) {
      expect(await send(assertion)).toMatchObject({ status: 403, body: { error: 'gate' } });
    }
    expect((await phone.enterPin()).body.error).toBe('no-pin');
    expect((await send(passkey.get(prompt.assertion))).status).toBe(200);
  });

  it('answers a request that is sent again at once as it answered the first', async () => {
    const msisdn = newNumber();
    const passkey = createPasskey(origin);
    const phone = await stage.enrol(msisdn, { passkey });
    await stage.product.submit({ msisdn });
    const prompt = await phone.prompted();
    const body = {
      signature: await phone.signatureOf(prompt, await phone.unlock()),
      assertion: passkey.get(prompt.assertion),
    };
    const send = () => phone.call('POST', `prompts/${prompt.id}/signature`, body);
    const answers = await Promise.all([send(), send(), send()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('keeps the highest counter, however many of its proofs come at once', async () => {
    const { core, configuration } = stage.product;
    const { prefix } = configuration.queue;
    const phones = createPhones({
      redis: core.commands,
      prefix,
      serviceKey: core.serviceKey,
      pinTries: 5,
    });
    for (let round = 0; round < 5; round += 1) {
      const msisdn = newNumber();
      const passkey = createPasskey(origin);
      const phone = await stage.enrol(msisdn, { passkey });
      await stage.product.submit({ msisdn });
      const prompt = await phone.prompted();
      const signature = await phone.signatureOf(prompt, await phone.unlock());
      // The first has the lowest counter.
      const assertions = Array.from({ length: 6 }, () => passkey.get(prompt.assertion));
      const send = (assertion: unknown) =>
        phone.call('POST', `prompts/${prompt.id}/signature`, { signature, assertion });
      const answers = await Promise.all(assertions.toReversed().map(send));
      expect(answers[0]?.status).toBe(200);
      expect((await phones.read(msisdn.slice(1)))?.phones).toMatchObject([
        { gate: { counter: 7 } },
      ]);
    }
  });
});
