/** Certificates of phones in browsers: revoked with the phone, and renewed before they end. */
import { X509Certificate } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { readSignedData } from '../../../packages/pki/src/signed-data.ts';
import { verifySignature } from '../../../packages/pki/src/verify.ts';
import type { ScriptedPhone } from '../../../test/support/phone.ts';
import { phoneAdminOf } from '../../../test/support/phone-admin.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { profileRequest, statusRequest } from '../../../test/support/requests.ts';
import { createPhones, type Phone } from '../phones.ts';
import { newNumber, type PhoneStage, startPhoneStage } from './stage.ts';

const redis = testRedis();
let stage: PhoneStage;
beforeAll(async () => {
  stage = await startPhoneStage(redis);
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => stage.product.stop());

const custody = () => stage.product.core.custodyOver(stage.product.core.commands);
const phones = () => {
  const { core, configuration } = stage.product;
  const { prefix } = configuration.queue;
  return createPhones({ redis: core.commands, prefix, serviceKey: core.serviceKey, pinTries: 5 });
};
const only = async (msisdn: string): Promise<Phone> => {
  const [phone] = (await phones().read(msisdn.slice(1)))?.phones ?? [];
  if (phone === undefined) throw new Error('no phone');
  return phone;
};
/** The workers have a custody of their own, which asks once a second what was revoked. */
const knownAs = (state: string, msisdn: string): Promise<void> => {
  const { core } = stage.product;
  const seen = async () =>
    (await core.subscribersOver(core.blocking).find(msisdn.slice(1)))?.apps[0]?.certificateState;
  return expect.poll(seen, { timeout: 20_000 }).toBe(state);
};
const signWith = async (phone: ScriptedPhone, msisdn: string): Promise<string> => {
  const id = await stage.product.submit({ msisdn });
  await phone.sign(await phone.prompted());
  return id;
};

/** @returns Moves the clock of the service to a time. */
const movableClock = (): ((at: number) => void) => {
  const { clock } = stage.product.core;
  const realNow = clock.now.bind(clock);
  let aheadMs = 0;
  vi.spyOn(clock, 'now').mockImplementation(() => realNow() + aheadMs);
  return (at) => {
    aheadMs = at - realNow();
  };
};
const dayMs = 86_400_000;

describe('the certificate of a phone', () => {
  it('is revoked when the phone is removed', async () => {
    const msisdn = newNumber();
    await stage.enrol(msisdn);
    const { id, serial } = await only(msisdn);
    expect(await custody().certificatesOf({ serial })).toMatchObject([{ msisdn: msisdn.slice(1) }]);
    expect(await phoneAdminOf(stage.product).remove(msisdn.slice(1), id)).toBe(true);
    expect(await custody().revocationOf(serial)).toMatchObject({ reason: 'cessationOfOperation' });
  });

  it('signs nothing when an operator has revoked it', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const id = await stage.product.submit({ msisdn });
    const prompt = await phone.prompted();
    await custody().revokeCertificate({ msisdn: msisdn.slice(1) }, 'keyCompromise');
    await phone.sign(prompt);
    await stage.ended(id, '_422');
    // Without a prompt, and the number says so, as soon as all processes know.
    await knownAs('INACTIVE', msisdn);
    await stage.ended(await stage.product.submit({ msisdn }), '_422');
    expect(await phone.prompts()).toEqual([]);
  });

  it('of another phone of the number still signs', async () => {
    const msisdn = newNumber();
    await stage.enrol(msisdn);
    const { serial } = await only(msisdn);
    const second = await stage.enrol(msisdn);
    await custody().revokeCertificate({ serial }, 'keyCompromise');
    await stage.ended(await signWith(second, msisdn), '500');
    const { body } = await stage.product.post(
      '/rest/service/profile',
      profileRequest(msisdn, 'sscds certs'),
    );
    const { App } = body.MSS_ProfileResp.Status.StatusDetail.ProfileQueryExtension.Sscds;
    expect(App[0].MobileUserCertificate).toHaveLength(1);
  });

  it('signs nothing for the next owner of the number', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    await custody().reassignNumber(msisdn.slice(1));
    await knownAs('INACTIVE', msisdn);
    await stage.ended(await stage.product.submit({ msisdn }), '_422');
    expect(await phone.prompts()).toEqual([]);
  });

  it('is not that of the next owner for what the former one was asked: a replay shows nothing', async () => {
    const msisdn = newNumber();
    await stage.enrol(msisdn);
    const id = await stage.product.submit({
      msisdn,
      text: 'For the former owner',
      timeoutSeconds: 1,
    });
    await stage.ended(id, '_208');
    await custody().reassignNumber(msisdn.slice(1));
    await knownAs('INACTIVE', msisdn);
    await phoneAdminOf(stage.product).forgetOwner(msisdn.slice(1));
    const phone = await stage.enrol(msisdn);
    await stage.product.replay(id);
    await stage.ended(id, '_404');
    expect(await phone.prompts()).toEqual([]);
    await stage.ended(await signWith(phone, msisdn), '500');
  });

  it('is asked for again near the end that the record of the phone has, and the record is put right', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const before = await only(msisdn);
    await phones().change(before, () => ({ certificateEndsAt: Date.now() + dayMs, serial: '00' }));
    await stage.ended(await signWith(phone, msisdn), '500');
    expect(await only(msisdn)).toMatchObject({
      certificateEndsAt: before.certificateEndsAt,
      serial: before.serial,
      chain: before.chain,
    });
  });

  it('is another one after its last month, and its key goes on signing when the first is over', async () => {
    const moveTo = movableClock();
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const first = await only(msisdn);
    /** Moves the clock to a time, and signs. @returns The certificate that signed. */
    const signAt = async (at: number): Promise<X509Certificate> => {
      moveTo(at);
      const id = await signWith(phone, msisdn);
      await stage.ended(id, '500');
      const { body } = await stage.product.post('/rest/service/status', statusRequest(id));
      const cms = Buffer.from(body.MSS_StatusResp.MSS_Signature.Base64Signature, 'base64');
      const trust = await custody().trust();
      const verified = verifySignature(cms, 'Sign in to Example?', {
        trust,
        at: new Date(at + 60_000),
      });
      expect(verified).toMatchObject({ ok: true });
      const [user] = readSignedData(cms)?.certificates ?? [];
      return new X509Certificate(user?.bytes ?? Buffer.of());
    };
    const serialOf = ({ serialNumber }: X509Certificate): string => serialNumber.toLowerCase();
    const early = await signAt(first.certificateEndsAt - 31 * dayMs);
    expect(await only(msisdn)).toEqual({ ...first, enteredAt: expect.any(Number) });
    // Made with the first one, and followed by the next.
    expect(serialOf(await signAt(first.certificateEndsAt - 10 * dayMs))).toBe(first.serial);
    const second = await only(msisdn);
    expect(second.certificateEndsAt).toBeGreaterThan(first.certificateEndsAt + 2 * 365 * dayMs);
    const late = await signAt(first.certificateEndsAt + 10 * dayMs);
    expect(serialOf(late)).toBe(second.serial);
    expect(second.serial).not.toBe(first.serial);
    expect(late.publicKey.equals(early.publicKey)).toBe(true);
    expect(late.subject).toBe(early.subject);
    // Nobody has revoked the first one: it has ended.
    expect(await custody().revocationOf(first.serial)).toBeUndefined();
  });

  it.each<[string, (phone: ScriptedPhone, msisdn: string) => Promise<unknown>]>([
    [
      'an operator',
      (phone, msisdn) => phoneAdminOf(stage.product).remove(msisdn.slice(1), phone.id),
    ],
    ['the person', (phone) => phone.leave()],
  ])('is revoked with the former ones of its key when %s removes the phone', async (_, remove) => {
    const moveTo = movableClock();
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const first = await only(msisdn);
    moveTo(first.certificateEndsAt - 10 * dayMs);
    await stage.ended(await signWith(phone, msisdn), '500');
    await expect.poll(async () => (await only(msisdn)).serial).not.toBe(first.serial);
    const second = await only(msisdn);
    await remove(phone, msisdn);
    for (const { serial } of [first, second]) {
      expect(await custody().revocationOf(serial)).toMatchObject({
        reason: 'cessationOfOperation',
      });
    }
  });

  it('is revoked when the phone is removed while the next one is made', async () => {
    const moveTo = movableClock();
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const first = await only(msisdn);
    moveTo(first.certificateEndsAt - 10 * dayMs);
    const id = await stage.product.submit({ msisdn });
    const prompt = await phone.prompted();
    const { commands } = stage.product.core;
    const setnx = commands.setnx.bind(commands);
    const made: string[] = [];
    vi.spyOn(commands, 'setnx').mockImplementation(async (key, value) => {
      const [, serial] = /:custody:serial:(\w+)$/.exec(String(key)) ?? [];
      const done = await setnx(key, value);
      if (serial !== undefined && made.push(serial) === 1) {
        expect(await phoneAdminOf(stage.product).remove(msisdn.slice(1), phone.id)).toBe(true);
      }
      return done;
    });
    await phone.sign(prompt);
    await stage.ended(id, '500');
    expect(made).toEqual([expect.not.stringMatching(first.serial)]);
    for (const serial of [first.serial, ...made]) {
      expect(await custody().revocationOf(serial)).toMatchObject({
        reason: 'cessationOfOperation',
      });
    }
  });
});
