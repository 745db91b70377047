import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { phoneAdminOf } from '../../../test/support/phone-admin.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { profileRequest } from '../../../test/support/requests.ts';
import { createPhones, type Phone } from '../phones.ts';
import { createPins } from '../pins.ts';
import { newNumber, type PhoneStage, startPhoneStage } from './stage.ts';

const redis = testRedis();
let stage: PhoneStage;

beforeAll(async () => {
  stage = await startPhoneStage(redis, { configuration: { phone: { pinTries: 3 } } });
});
afterAll(() => stage.product.stop());

const block = async (phone: Awaited<ReturnType<PhoneStage['enrol']>>): Promise<void> => {
  for (let times = 0; times < 3; times += 1) await phone.enterPin('000000');
};

describe('the PIN of a phone', () => {
  it('is counted down when it is wrong, and begins anew when it was right', async () => {
    const phone = await stage.enrol(newNumber());
    const left = async (pin: string) => (await phone.enterPin(pin)).body.triesLeft;
    expect([await left('000000'), await left('000001')]).toEqual([2, 1]);
    expect((await phone.enterPin()).status).toBe(200);
    expect((await phone.state()).body.gate).toMatchObject({
      kind: 'pin',
      triesLeft: 3,
      blocked: false,
    });
  });

  it('gives no more tries to many at once', async () => {
    const phone = await stage.enrol(newNumber());
    const answers = await Promise.all(Array.from({ length: 20 }, () => phone.enterPin('000000')));
    const errors = answers.map(({ body }) => body.error);
    expect(errors.filter((error) => error === 'wrong-pin')).toHaveLength(2);
    expect(errors.filter((error) => error === 'blocked')).toHaveLength(18);
    expect((await phone.enterPin()).body.error).toBe('blocked');
  });

  it('never counts when it is right, also of many at once', async () => {
    const phone = await stage.enrol(newNumber());
    await phone.enterPin('000000');
    const answers = await Promise.all(Array.from({ length: 20 }, () => phone.enterPin()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await phone.state()).body.gate).toMatchObject({ triesLeft: 3, blocked: false });
  });

  it('that an unanswered try has blocked ends the open prompt at the next try', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const open = await stage.product.submit({ msisdn });
    await phone.prompted();
    const { prefix } = stage.product.configuration.queue;
    await redis.client().hset(`${prefix}:phone:${msisdn.slice(1)}`, `tries:${phone.id}`, '3');
    expect((await phone.enterPin()).body.error).toBe('blocked');
    await stage.ended(open, '_402');
  });

  it('is not counted for a phone that was removed meanwhile', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const { core, configuration } = stage.product;
    const [prefix, serviceKey] = [configuration.queue.prefix, randomBytes(32)];
    const phones = createPhones({ redis: core.commands, serviceKey, prefix, pinTries: 3 });
    const read = (await phoneAdminOf(stage.product).find(msisdn.slice(1)))?.phones[0] as Phone;
    await phone.leave();
    const pins = createPins({ phones, serviceKey, now: Date.now });
    expect(await pins.enter(read, randomBytes(32).toString('base64url'))).toEqual({ kind: 'none' });
    const fields = await redis.client().hkeys(`${prefix}:phone:${msisdn.slice(1)}`);
    expect(fields.filter((field) => field.endsWith(phone.id))).toEqual([]);
  });

  it('ends the open prompt and later ones with 402 when it is blocked', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const open = await stage.product.submit({ msisdn });
    await phone.prompted();
    await block(phone);
    await stage.ended(open, '_402');
    const later = await stage.product.submit({ msisdn });
    await stage.ended(later, '_402');
    const { body } = await stage.product.post('/rest/service/profile', profileRequest(msisdn));
    expect(body.Fault.Code.SubCode.Value).toBe('_402');
    expect((await phone.state()).body).toMatchObject({ gate: { blocked: true }, prompts: [] });
  });

  it('ends the open prompt with 402 when the only phone that was not blocked is removed', async () => {
    const msisdn = newNumber();
    const blocked = await stage.enrol(msisdn);
    const other = await stage.enrol(msisdn);
    await block(blocked);
    const id = await stage.product.submit({ msisdn });
    await other.prompted();
    expect((await other.leave()).status).toBe(200);
    await stage.ended(id, '_402');
    expect((await blocked.state()).body.prompts).toEqual([]);
  });

  it('that is blocked on one phone leaves the other phone of the number as it is', async () => {
    const msisdn = newNumber();
    const one = await stage.enrol(msisdn);
    const other = await stage.enrol(msisdn);
    const id = await stage.product.submit({ msisdn });
    const prompt = await other.prompted();
    await block(one);
    expect((await other.sign(prompt)).status).toBe(200);
    await stage.ended(id, '500');
  });

  it('is set anew with the recovery code, which is good once', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    await block(phone);
    const { recoveryCode } = phone.kept;
    expect((await phone.recover('AAAA-BBBB', '654321')).body.error).toBe('wrong-code');
    expect(
      (await phone.recover(recoveryCode.toLowerCase().replaceAll('-', ' '), '654321')).status,
    ).toBe(200);
    const id = await stage.product.submit({ msisdn });
    expect((await phone.sign(await phone.prompted(), '654321')).status).toBe(200);
    await stage.ended(id, '500');
    expect((await phone.recover(recoveryCode, '111111')).body.error).toBe('wrong-code');
  });

  it('is set anew again where the answer was lost, until it is entered', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    await block(phone);
    const { recoveryCode } = phone.kept;
    const of = (length: number) => randomBytes(length).toString('base64url');
    const asked = { code: recoveryCode, gate: { kind: 'pin', salt: of(16), verifier: of(32) } };
    const answers = await Promise.all([1, 2, 3].map(() => phone.call('POST', 'recovery', asked)));
    expect(answers[0]?.status).toBe(200);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body)))).toHaveProperty('size', 1);
    // The browser was killed before the answer came: it has its old code alone.
    expect((await phone.recover(recoveryCode, '654321')).status).toBe(200);
    const id = await stage.product.submit({ msisdn });
    expect((await phone.sign(await phone.prompted(), '654321')).status).toBe(200);
    await stage.ended(id, '500');
    expect((await phone.recover(recoveryCode, '111111')).body.error).toBe('wrong-code');
  });

  it('that a recovery sets stays set when the one before is entered meanwhile', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const { core, configuration } = stage.product;
    const { prefix } = configuration.queue;
    const { serviceKey, commands } = core;
    const phones = createPhones({ redis: commands, serviceKey, prefix, pinTries: 3 });
    const pins = createPins({ phones, serviceKey, now: Date.now });
    const read = async () => (await phones.read(msisdn.slice(1)))?.phones[0] as Phone;
    const newGate = () => {
      const [salt, verifier] = [16, 32].map((length) => randomBytes(length).toString('base64url'));
      return { kind: 'pin' as const, salt: salt ?? '', verifier: verifier ?? '' };
    };
    const [one, other] = [newGate(), newGate()];
    const { recoveryCode: code } = phone.kept;
    expect(await pins.recover(await read(), { code, gate: one })).toBeDefined();
    // The request that enters the first PIN has read the phone, and goes on after the recovery.
    const before = await read();
    const recovered = await pins.recover(await read(), { code, gate: other });
    await pins.enter(before, one.verifier);
    expect(await pins.enter(await read(), other.verifier)).toEqual({
      kind: 'right',
      share: recovered?.share,
    });
    expect(await pins.enter(await read(), one.verifier)).toMatchObject({ kind: 'wrong' });
    // The other way round: the code was used up when the recovery comes to write.
    const code2 = recovered?.recoveryCode ?? '';
    expect(await pins.recover(await read(), { code: code2, gate: one })).toBeDefined();
    const stale = await read();
    await pins.enter(await read(), one.verifier);
    expect(await pins.recover(stale, { code: code2, gate: other })).toBeUndefined();
    expect(await pins.enter(await read(), one.verifier)).toMatchObject({ kind: 'right' });
  });

  it('is the one of a recovery that was answered, with entries and recoveries at the same time', async () => {
    const phone = await stage.enrol(newNumber());
    const of = (length: number) => randomBytes(length).toString('base64url');
    const call = (path: string, body: object) => phone.call('POST', path, body);
    let code = phone.kept.recoveryCode;
    for (let round = 0; round < 20; round += 1) {
      const [one, other] = [of(32), of(32)];
      const recover = (verifier: string) =>
        call('recovery', { code, gate: { kind: 'pin', salt: of(16), verifier } });
      const first = await recover(one);
      const [, second] = await Promise.all([call('pin', { verifier: one }), recover(other)]);
      const isRecovered = second.status === 200;
      const { status, body } = await call('pin', { verifier: isRecovered ? other : one });
      const last = isRecovered ? second : first;
      expect({ status, share: body.share }).toEqual({ status: 200, share: last.body.pin.share });
      code = last.body.recoveryCode;
    }
  });

  it('has to be entered for each signature', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const key = await phone.unlock();
    const id = await stage.product.submit({ msisdn });
    const prompt = await phone.prompted();
    const signature = await phone.signatureOf(prompt, key);
    const send = () => phone.call('POST', `prompts/${prompt.id}/signature`, { signature });
    expect(await send()).toMatchObject({ status: 403, body: { error: 'gate' } });
    await phone.enterPin();
    expect((await send()).status).toBe(200);
    await stage.ended(id, '500');
  });
});

describe('Redis and the log', () => {
  it('hold neither verifier, share, recovery code nor text', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    await stage.product.submit({ msisdn, text: 'A secret text of this test' });
    await phone.prompted();
    const { asked, body } = phone.enrolment;
    const client = redis.client();
    const keys = await client.keys(`*${stage.product.configuration.queue.prefix}*phone*`);
    const dumps = await Promise.all(
      keys.map(async (key) => {
        const type = await client.type(key);
        if (type === 'hash') return JSON.stringify(await client.hgetall(key));
        return type === 'stream'
          ? JSON.stringify(await client.xrange(key, '-', '+'))
          : client.get(key);
      }),
    );
    const stored = dumps.join('\n');
    expect(stored).toContain(msisdn.slice(1));
    const secrets = [
      (asked.gate as { verifier: string }).verifier,
      body.pin.share,
      body.recoveryCode,
      phone.kept.cookie.split('=')[1] ?? '',
      'A secret text of this test',
    ];
    for (const secret of secrets) {
      expect(stored).not.toContain(secret);
      expect(stage.product.logged.join('\n')).not.toContain(secret);
    }
  });
});
