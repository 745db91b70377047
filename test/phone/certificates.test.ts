/** Certificates of phones in browsers: revoked with the phone, and renewed before they end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPhones, type Phone } from '../../src/phone/phones.ts';
import type { ScriptedPhone } from '../support/phone.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest } from '../support/requests.ts';
import { newNumber, type PhoneStage, startPhoneStage } from './stage.ts';

const redis = testRedis();
let stage: PhoneStage;
beforeAll(async () => {
  stage = await startPhoneStage(redis);
});
afterAll(() => stage.product.stop());

const custody = () => stage.product.core.custodyOver(stage.product.core.commands);
const phones = () => {
  const { core, configuration } = stage.product;
  const { prefix } = configuration.queue;
  return createPhones({ redis: core.commands, prefix, masterKey: core.masterKey, pinTries: 5 });
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

describe('the certificate of a phone', () => {
  it('is revoked when the phone is removed', async () => {
    const msisdn = newNumber();
    await stage.enrol(msisdn);
    const { id, serial } = await only(msisdn);
    expect(await custody().certificatesOf({ serial })).toMatchObject([{ msisdn: msisdn.slice(1) }]);
    expect(await stage.product.api.phoneAdmin.remove(msisdn.slice(1), id)).toBe(true);
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
    const { body } = await stage.product.post('/rest/service/profile', profileRequest(msisdn, 'sscds certs'));
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

  it('is asked for again near the end that the record of the phone has, and the record is put right', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const before = await only(msisdn);
    await phones().change(before, { certificateEndsAt: Date.now() + 86_400_000, serial: '00' });
    await stage.ended(await signWith(phone, msisdn), '500');
    expect(await only(msisdn)).toMatchObject({
      ...{ certificateEndsAt: before.certificateEndsAt, serial: before.serial, chain: before.chain },
    });
  });
});
