import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { codeIn, createPhoneCalls, enrolPhone, macOf } from '../../../test/support/phone.ts';
import { phoneAdminOf, phoneSettingsOf } from '../../../test/support/phone-admin.ts';
import { startTestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { profileRequest, signRequest } from '../../../test/support/requests.ts';
import { openAdmin } from '../store.ts';
import { newNumber, origin, type PhoneStage, startPhoneStage } from './stage.ts';

const redis = testRedis();
let stage: PhoneStage;
const configured = '41790200001';
const withPhone = '41790200002';

beforeAll(async () => {
  stage = await startPhoneStage(redis, {
    configuration: {
      phone: { maxPhones: 2 },
      subscribers: [
        { msisdn: configured, sim: {} },
        { msisdn: withPhone, apps: [{ device: { kind: 'phone' } }] },
      ],
      // Its requests have no address, and so all one.
      trustedProxy: { addresses: [] },
    },
  });
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => stage.product.stop());

const send = (request: Request) => stage.product.api.fetch(request);
const faultOf = async (msisdn: string): Promise<string> => {
  const { body } = await stage.product.post('/rest/service/sign', signRequest({ msisdn }));
  return body.Fault?.Code.SubCode.Value;
};

describe('an invitation', () => {
  it('makes its number known, which then needs to be activated', async () => {
    const msisdn = newNumber();
    expect(await faultOf(msisdn)).toBe('_105');
    await stage.invite(msisdn);
    expect(await faultOf(msisdn)).toBe('_404');
    const { body } = await stage.product.post('/rest/service/profile', profileRequest(msisdn));
    expect(body.Fault.Code.SubCode.Value).toBe('_404');
  });

  it('is good for one browser', async () => {
    const link = await stage.invite(newNumber());
    await stage.enrolBy(link);
    await expect(stage.enrolBy(link)).rejects.toThrow('404');
  });

  it('ends the one before it', async () => {
    const msisdn = newNumber();
    const first = await stage.invite(msisdn);
    await stage.invite(msisdn);
    await expect(stage.enrolBy(first)).rejects.toThrow('404');
  });

  it('expires', async () => {
    const msisdn = newNumber();
    const link = await stage.invite(msisdn);
    const { prefix } = stage.product.configuration.queue;
    expect(await redis.client().pttl(`${prefix}:phone-code:${codeIn(link).id}`)).toBeGreaterThan(
      6 * 86_400_000,
    );
    await redis.client().pexpire(`${prefix}:phone-code:${codeIn(link).id}`, 0);
    await expect(stage.enrolBy(link)).rejects.toThrow('404');
  });

  it('is refused for a number that is configured without a phone, and serves one with a phone', async () => {
    const phoneAdmin = phoneAdminOf(stage.product);
    expect(await phoneAdmin.invite(configured)).toEqual({ kind: 'configured' });
    const phone = await stage.enrol(`+${withPhone}`);
    const id = await stage.product.submit({ msisdn: `+${withPhone}` });
    await phone.sign(await phone.prompted());
    await stage.ended(id, '500');
  });
});

describe('an enrolment', () => {
  it('answers with number, certificate and recovery code, and a cookie that scripts cannot read', async () => {
    const msisdn = newNumber();
    const link = await stage.invite(msisdn);
    const headers: string[] = [];
    const phone = await enrolPhone(
      {
        base: origin,
        send: async (request) => {
          const response = await send(request);
          headers.push(response.headers.get('set-cookie') ?? '');
          return response;
        },
      },
      link,
    );
    expect(phone.enrolment.body).toMatchObject({
      // As a word of a command line it must not begin with a dash.
      phone: expect.stringMatching(/^[0-9a-f]{24}$/),
      number: `+41 79 … ${msisdn.slice(-2)}`,
      recoveryCode: expect.stringMatching(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){5}[0-9A-HJKMNP-TV-Z]{4}$/),
    });
    expect(headers[0]).toMatch(
      /^paraph-phone=[\w-]+; Path=\/phone; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
    );
  });

  it('that is sent again, because its answer was lost, gives the same phone', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const again = createPhoneCalls(origin, send);
    const { status, body } = await again.call('POST', 'enrolments', phone.enrolment.asked);
    expect(status).toBe(201);
    expect(body.phone).toBe(phone.id);
    expect((await phoneAdminOf(stage.product).find(msisdn.slice(1)))?.phones).toHaveLength(1);
    expect((await again.call('GET', 'state')).status).toBe(200);
  });

  it('that is sent again after its PIN was set anew leaves the new PIN', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    expect((await phone.recover(phone.kept.recoveryCode, '654321')).status).toBe(200);
    const copy = await createPhoneCalls(origin, send).call(
      'POST',
      'enrolments',
      phone.enrolment.asked,
    );
    expect(copy.status).toBe(201);
    const id = await stage.product.submit({ msisdn });
    expect((await phone.sign(await phone.prompted(), '654321')).status).toBe(200);
    await stage.ended(id, '500');
  });

  it('that is sent again after its certificate was revoked gets no other one', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const { core } = stage.product;
    const custody = core.custodyOver(core.commands);
    await custody.revokeCertificate({ msisdn: msisdn.slice(1) }, 'keyCompromise');
    const copy = await createPhoneCalls(origin, send).call(
      'POST',
      'enrolments',
      phone.enrolment.asked,
    );
    expect(copy.body.certificate).toBe(phone.enrolment.body.certificate);
    expect(await custody.certificatesOf({ msisdn: msisdn.slice(1) })).toHaveLength(1);
  });

  it('has one answer, in whatever order copies of the request arrive', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const copies = [1, 2, 3].map(() =>
      createPhoneCalls(origin, send).call('POST', 'enrolments', phone.enrolment.asked),
    );
    for (const { body } of await Promise.all(copies)) {
      const { share } = phone.enrolment.body.pin;
      expect(body).toMatchObject({ pin: { share }, recoveryCode: phone.kept.recoveryCode });
    }
    // The browser has the cookie of the first answer, and the key that its share has wrapped.
    const id = await stage.product.submit({ msisdn });
    expect((await phone.sign(await phone.prompted())).status).toBe(200);
    await stage.ended(id, '500');
  });

  it('is not taken over by somebody who has seen its request, with a PIN or passkey of their own', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const { asked } = phone.enrolment;
    const other = { kind: 'pin', salt: 'A'.repeat(22), verifier: 'A'.repeat(43) };
    for (const gate of [other, { ...asked.gate, verifier: other.verifier }]) {
      const thief = createPhoneCalls(origin, send);
      expect((await thief.call('POST', 'enrolments', { ...asked, gate })).status).toBe(404);
      expect((await thief.call('GET', 'state')).status).toBe(401);
    }
    const id = await stage.product.submit({ msisdn });
    expect((await phone.sign(await phone.prompted())).status).toBe(200);
    await stage.ended(id, '500');
  });

  it('stays as it is when its code comes with another PIN, also from whoever has the link', async () => {
    const msisdn = newNumber();
    const link = await stage.invite(msisdn);
    const phone = await stage.enrolBy(link);
    const { asked } = phone.enrolment;
    const gate = { kind: 'pin', salt: 'A'.repeat(22), verifier: 'A'.repeat(43) };
    const mac = await macOf(
      codeIn(link).secret,
      Uint8Array.from(Buffer.from(asked.request, 'base64')),
      gate,
    );
    const other = { ...asked, gate, code: { ...asked.code, mac } };
    const { status, body } = await createPhoneCalls(origin, send).call('POST', 'enrolments', other);
    expect({ status, error: body.error }).toEqual({ status: 404, error: 'code' });
    expect((await phone.enterPin()).status).toBe(200);
  });

  it('tells the other phones of the number, until the person has read it', async () => {
    const msisdn = newNumber();
    const first = await stage.enrol(msisdn);
    expect((await first.state()).body.others).toEqual([]);
    const second = await stage.enrolBy(await stage.invite(msisdn), { label: 'Chrome on Linux' });
    const [other, ...more] = (await first.state()).body.others;
    expect([other, more]).toEqual([
      { id: second.id, label: 'Chrome on Linux', enrolledAt: expect.stringMatching(/^\d{4}-/) },
      [],
    ]);
    // The newest knows those before it from their owner.
    expect((await second.state()).body.others).toEqual([]);
  });

  it.each<[string, (asked: never) => object, number]>([
    ['another request than the code has authenticated', () => ({ request: 'MAA=' }), 404],
    [
      'a MAC of another code',
      () => ({ code: { id: 'AAAAAAAAAAA', mac: Buffer.alloc(32).toString('base64url') } }),
      404,
    ],
    [
      'a verifier that is too short',
      () => ({ gate: { kind: 'pin', salt: 'AA', verifier: 'AA' } }),
      400,
    ],
    ['members that are not known', () => ({ pin: '123456' }), 400],
  ])('is refused for %s', async (_, change, status) => {
    const link = await stage.invite(newNumber());
    const changed = async (request: Request): Promise<Response> => {
      const asked = (await request.json()) as never;
      const body = JSON.stringify({ ...(asked as object), ...change(asked) });
      return send(new Request(request.url, { method: 'POST', headers: request.headers, body }));
    };
    await expect(enrolPhone({ base: origin, send: changed }, link)).rejects.toThrow(String(status));
  });

  it('is refused for a third phone where two are allowed, until one was removed', async () => {
    const msisdn = newNumber();
    const first = await stage.enrol(msisdn);
    await stage.enrol(msisdn);
    const link = await stage.invite(msisdn);
    await expect(stage.enrolBy(link)).rejects.toThrow('409');
    expect((await first.leave()).status).toBe(200);
    await stage.enrolBy(link);
  });

  it('is refused with each member that is wrong, and what is expected there, but no value', async () => {
    const gate = { kind: 'pin', salt: 'SECRET-1', verifier: 'SECRET-2' };
    const code = { id: 'x', mac: 'SECRET-3' };
    const sent = {
      code,
      request: 'SECRET-4',
      gate,
      language: 'SECRET-5',
      label: 'x'.repeat(61),
      more: 1,
    };
    const { status, body } = await createPhoneCalls(origin, send).call('POST', 'enrolments', sent);
    expect([status, body.error]).toEqual([400, 'bad-request']);
    expect(body.message.split('; ')).toEqual([
      'code.mac must be base64url of 32 bytes',
      'request: Invalid base64-encoded string',
      'gate.salt must be base64url of 16 bytes',
      'gate.verifier must be base64url of 32 bytes',
      'language: Invalid option: expected one of "en"|"de"|"fr"|"it"',
      'label: Too big: expected string to have <=60 characters',
      'The body has members that are not known here',
    ]);
  });

  it('stays where another host of the domain has set a cookie of the same name', async () => {
    const phone = await stage.enrol(newNumber());
    const { cookie } = phone.kept;
    for (const both of [`paraph-phone=AAAA; ${cookie}`, `${cookie};paraph-phone =AAAA`]) {
      const request = new Request(`${origin}/phone/api/state`, { headers: { cookie: both } });
      const response = await send(request);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: 'cookies' });
      expect(response.headers.get('set-cookie')).toBeNull();
    }
    expect((await phone.state()).status).toBe(200);
  });

  it('must come from a page of the service', async () => {
    const phone = await stage.enrol(newNumber());
    const request = new Request(`${origin}/phone/api/phone`, {
      method: 'DELETE',
      headers: { cookie: phone.kept.cookie, origin: 'https://evil.example' },
    });
    expect((await send(request)).status).toBe(403);
    expect((await phone.state()).status).toBe(200);
  });
});

describe('a phone that was un-enrolled', () => {
  it('has its certificates revoked before it is forgotten', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const { core } = stage.product;
    const asked: string[] = [];
    const { admin } = openAdmin({
      ...core,
      settings: phoneSettingsOf(core.configuration),
      prefix: core.configuration.queue.prefix,
      redis: core.commands,
      answer: async () => 'unknown',
      publicUrl: () => origin,
      revoke: async (given) => {
        asked.push(given.id);
        if (asked.length === 1) throw new Error('Redis is away');
      },
    });
    await expect(admin.remove(msisdn.slice(1), phone.id)).rejects.toThrow('away');
    expect((await phone.state()).status).toBe(200);
    expect(await admin.remove(msisdn.slice(1), phone.id)).toBe(true);
    expect((await phone.state()).status).toBe(401);
    expect(new Set(asked)).toEqual(new Set([phone.id]));
  });

  it('does not come back by a copy of its enrolment, and leaves a later invitation open', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const copy = () =>
      createPhoneCalls(origin, send).call('POST', 'enrolments', phone.enrolment.asked);
    expect((await copy()).status).toBe(201);
    await phone.leave();
    expect(await copy()).toMatchObject({ status: 404, body: { error: 'code' } });
    expect((await phoneAdminOf(stage.product).find(msisdn.slice(1)))?.phones).toEqual([]);
    const second = await stage.enrol(msisdn);
    const link = await stage.invite(msisdn);
    await second.leave();
    await stage.enrolBy(link);
  });

  it.each<[string, (msisdn: string, id: string) => Promise<unknown>]>([
    ['phone is removed', (msisdn, id) => phoneAdminOf(stage.product).remove(msisdn, id)],
    ['number gets a new owner', (msisdn) => phoneAdminOf(stage.product).forgetOwner(msisdn)],
  ])('does not come back by a copy that is on its way when the %s', async (_, remove) => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const { commands, custodyOver } = stage.product.core;
    const hsetnx = commands.hsetnx.bind(commands);
    let removals = 0;
    vi.spyOn(commands, 'hsetnx').mockImplementation(async (...given) => {
      const done = await hsetnx(...given);
      // The copy has read the invitation before, and is given a certificate and written afterwards.
      if (/:phone-code:/.test(String(given[0])) && ++removals === 1)
        await remove(msisdn.slice(1), phone.id);
      return done;
    });
    const { status } = await createPhoneCalls(origin, send).call(
      'POST',
      'enrolments',
      phone.enrolment.asked,
    );
    expect({ status, removals }).toEqual({ status: 404, removals: 1 });
    expect((await phoneAdminOf(stage.product).find(msisdn.slice(1)))?.phones).toEqual([]);
    const issued = await custodyOver(commands).certificatesOf({ msisdn: msisdn.slice(1) });
    expect(issued.map(({ revocation }) => revocation?.reason)).toEqual([
      'cessationOfOperation',
      'cessationOfOperation',
    ]);
  });

  it('is unknown, and its number needs to be activated again', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const open = await stage.product.submit({ msisdn });
    await phone.prompted();
    expect((await phone.leave()).body).toEqual({ enrolled: false });
    await stage.ended(open, '_404');
    expect(await faultOf(msisdn)).toBe('_404');
    phone.calls.setCookie(phone.kept.cookie);
    expect((await phone.state()).status).toBe(401);
  });
});

describe("the sandbox's own number", () => {
  const askLink = async (): Promise<string> => {
    const { status, body } = await createPhoneCalls(origin, send).call('POST', 'activations', {});
    expect(status).toBe(201);
    return body.link;
  };
  const enrolOne = async () => stage.enrolBy(await askLink());

  it('is enrolled by whoever asks, and the oldest phone gives its place', async () => {
    expect(await faultOf('+41700092600')).toBe('_404');
    const first = await enrolOne();
    await enrolOne();
    const last = await enrolOne();
    expect((await first.state()).status).toBe(401);
    const id = await stage.product.submit({ msisdn: '+41700092600' });
    await last.sign(await last.prompted());
    await stage.ended(id, '500');
  });

  it('keeps its phones when a link is used that another browser has used', async () => {
    const first = await enrolOne();
    const link = await askLink();
    const last = await stage.enrolBy(link);
    await expect(stage.enrolBy(link)).rejects.toThrow('404');
    expect((await first.state()).status).toBe(200);
    expect((await last.state()).status).toBe(200);
  });

  it('is there in a sandbox only', async () => {
    const queue = { prefix: `${redis.prefix.slice(-28)}-two` };
    const product = await startTestProduct(redis, {
      configuration: { sandbox: false, queue },
      workers: false,
    });
    const calls = createPhoneCalls(origin, (request) => product.api.fetch(request));
    expect((await calls.call('POST', 'activations', {})).status).toBe(404);
    expect(await product.api.greetings()).toEqual([]);
    await product.stop();
  });
});
