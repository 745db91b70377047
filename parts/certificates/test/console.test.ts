/** Certificates of people, and authorities, in the admin API and on the page. */
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createNumberNames } from '../../../src/console/operators/number-names.ts';
import { type ApiStage, startApiStage } from '../../../test/console/api-stage.ts';
import { enrolPhone } from '../../../test/support/phone.ts';
import { phoneAdminOf } from '../../../test/support/phone-admin.ts';
import type { Json } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { openCertificateConsole } from '../console.ts';

const redis = testRedis();
let stage: ApiStage;
beforeAll(async () => {
  stage = await startApiStage(redis);
});
afterAll(() => stage.close());

/** Digits of a number that has a certificate. */
let nextPerson = 41_700_000_001;
const somebody = async (): Promise<string> => {
  const msisdn = String(nextPerson++);
  const { core } = stage.product;
  await core
    .custodyOver(core.commands)
    .userKey({ msisdn, sscdId: 'sim', algorithm: 'EC', expired: false });
  return msisdn;
};

const list = async (about: object): Promise<Json[]> => {
  const query = new URLSearchParams({ ...about });
  const { status, body } = await stage.ask('operator', 'GET', `/admin/api/certificates?${query}`);
  expect(status).toBe(200);
  return body.certificates;
};

const order = (what: string, body: object) =>
  stage.ask('operator', 'POST', `/admin/api/certificates/${what}`, body);

const audited = async (target: string): Promise<Json[]> =>
  (await stage.ask('operator', 'GET', `/admin/api/audit?target=${target}`)).body.entries;

describe('the authorities on the page', () => {
  it('stand on the page before a number is asked for, and need a person half a year before their end', async () => {
    const { text } = await stage.ask('operator', 'GET', '/admin/certificates');
    const { authorities } = (await stage.ask('viewer', 'GET', '/admin/api/authorities')).body;
    const ids = authorities.map(({ id }: Json) => id);
    expect(ids).toEqual(['root-1', 'issuing-1']);
    for (const id of ids)
      expect(text).toContain(`<th scope="row" role="rowheader" class="nowrap">${id}`);
    const { core } = stage.product;
    const custody = core.custodyOver(core.commands);
    const { serviceKey } = core;
    const numberName = createNumberNames(serviceKey);
    const secrets = { serviceKey, numberName, publicUrl: async () => undefined };
    const needsAt = async (now: number) => {
      const part = openCertificateConsole({ audit: stage.audit, now: () => now });
      const { needs } = part.openSecrets?.({ ...secrets, custody }) ?? {};
      return (await needs?.()) ?? [];
    };
    const [, issuing] = authorities;
    const dayMs = 86_400_000;
    expect(await needsAt(issuing.notAfter - 181 * dayMs)).toEqual([]);
    expect(await needsAt(issuing.notAfter - 30 * dayMs)).toMatchObject([
      {
        kind: 'authority-ends',
        text: expect.stringMatching(/^The authority issuing-1 ends in 30 days: /),
        page: '/admin/certificates#authorities',
        role: 'operator',
      },
    ]);
    expect(await needsAt(issuing.notAfter + dayMs)).toEqual([]);
  });
});

describe('the certificates of a number', () => {
  it('are listed by number and by serial number, without the number, for operators', async () => {
    const msisdn = await somebody();
    const [certificate] = await list({ msisdn: `+${msisdn}` });
    expect(certificate).toEqual({
      sscdId: 'sim',
      algorithm: 'EC',
      version: 1,
      state: 'good',
      serial: expect.stringMatching(/^[0-9a-f]{32}$/),
      serialNumber: expect.stringMatching(/^MIDCHE/),
      notBefore: expect.any(Number),
      notAfter: expect.any(Number),
    });
    expect(await list({ serial: certificate.serial.toUpperCase() })).toEqual([certificate]);
    expect(
      (await stage.ask('viewer', 'GET', `/admin/api/certificates?msisdn=${msisdn}`)).status,
    ).toBe(403);
    expect(
      (await stage.ask('nobody', 'GET', `/admin/api/certificates?msisdn=${msisdn}`)).status,
    ).toBe(401);
  });

  it('are revoked for ever with a reason, which is in the audit log', async () => {
    const msisdn = await somebody();
    const revoked = await order('revoke', {
      msisdn,
      reason: 'keyCompromise',
      why: 'Phone was stolen',
    });
    expect(revoked.body).toEqual({ done: 1 });
    const [certificate] = await list({ msisdn });
    expect(certificate).toMatchObject({ state: 'revoked', reason: 'keyCompromise' });
    const again = await order('revoke', { serial: certificate.serial, reason: 'superseded' });
    expect([again.status, again.body.error]).toEqual([409, 'nothing']);
    expect(await audited(certificate.serial)).toMatchObject([
      {
        action: 'certificate-revoke',
        who: 'the-operator',
        reason: 'Phone was stolen',
        details: { reason: 'keyCompromise' },
      },
    ]);
    expect((await order('renew', { msisdn })).body).toEqual({ done: 1 });
    expect((await order('renew', { msisdn })).status).toBe(409);
  });

  it('go to nobody else with the number: its new owner is another person', async () => {
    const msisdn = await somebody();
    const [former] = await list({ msisdn });
    expect((await order('reassign', { msisdn, why: 'New contract' })).body).toEqual({ done: 1 });
    expect(await list({ msisdn })).toMatchObject([
      { state: 'revoked', reason: 'affiliationChanged' },
    ]);
    const { core } = stage.product;
    const next = await core.custodyOver(core.blocking).serialNumberOf(msisdn);
    expect(next).not.toBe(former.serialNumber);
    const entries = await audited(former.serialNumber);
    expect(entries).toMatchObject([{ action: 'number-reassign', reason: 'New contract' }]);
    expect(JSON.stringify(entries)).not.toContain(msisdn);
  });

  it('leave the phones of the former owner behind, and what invites to more of them', async () => {
    const msisdn = '41790300001';
    const phoneAdmin = phoneAdminOf(stage.product);
    const { fetch: send } = stage.product.api;
    const invite = async (): Promise<string> => {
      const invited = await phoneAdmin.invite(msisdn, 'fr');
      if (invited.kind !== 'invited') throw new Error(invited.kind);
      return invited.link;
    };
    const base = 'http://test';
    const phone = await enrolPhone({ base, send: (request) => send(request) }, await invite());
    const stillOpen = await invite();
    const id = await stage.product.submit({ msisdn: `+${msisdn}` });
    const prompt = await phone.prompted();
    expect((await order('reassign', { msisdn })).body).toEqual({ done: 1 });
    expect(await phoneAdmin.find(msisdn)).toEqual({
      msisdn,
      since: expect.any(Number),
      phones: [],
    });
    expect((await phone.state()).status).toBe(401);
    expect((await phone.cancel(prompt)).status).toBe(401);
    await vi.waitFor(async () => expect(await stage.product.statusOf(id)).toBe('_404'), 20_000);
    await expect(enrolPhone({ base, send: (request) => send(request) }, stillOpen)).rejects.toThrow(
      'enrolment',
    );
    expect(await list({ msisdn })).toMatchObject([
      { state: 'revoked', reason: 'affiliationChanged' },
    ]);
    const next = await enrolPhone({ base, send: (request) => send(request) }, await invite());
    expect((await phoneAdmin.find(msisdn))?.phones).toMatchObject([{ id: next.id }]);
    const [former, present] = await list({ msisdn });
    expect(present.serialNumber).not.toBe(former.serialNumber);
  });

  it.each([
    ['revoke', { msisdn: 'secret', reason: 'superseded' }, 'msisdn'],
    ['revoke', { serial: 'secret', reason: 'superseded' }, 'serial'],
    ['revoke', { reason: 'superseded' }, 'msisdn'],
    ['revoke', { msisdn: '41700000001', serial: 'abcd', reason: 'superseded' }, 'msisdn'],
    ['revoke', { msisdn: '41700000001', reason: 'secret' }, 'reason'],
    ['renew', { msisdn: 'secret' }, 'msisdn'],
    ['reassign', {}, 'msisdn'],
  ])(
    'are not changed by %s with %j, and the error names the member',
    async (what, body, member) => {
      const { status, body: answered } = await order(what, body);
      expect([status, answered.error]).toEqual([400, 'bad-request']);
      expect(answered.message).toContain(member);
      expect(answered.message).not.toContain('secret');
    },
  );

  it('that do not exist are unknown, and orders are for operators', async () => {
    for (const body of [{ msisdn: '41799999999' }, { serial: 'abcdef' }]) {
      const { status } = await order('revoke', { ...body, reason: 'superseded' });
      expect(status).toBe(404);
    }
    for (const what of ['revoke', 'renew', 'reassign']) {
      const body = { msisdn: '41700000001', ...(what === 'revoke' && { reason: 'superseded' }) };
      expect(
        (await stage.ask('viewer', 'POST', `/admin/api/certificates/${what}`, body)).status,
      ).toBe(403);
    }
  });
});

describe('a look-up by number', () => {
  it('is in the audit log, once in a session for each list, without the number', async () => {
    const msisdn = await somebody();
    const [{ serial }] = await list({ msisdn });
    const phoneAdmin = phoneAdminOf(stage.product);
    await phoneAdmin.invite(msisdn);
    const asked = { msisdn: `+${msisdn}` };
    for (let round = 0; round < 2; round += 1) {
      for (const path of [
        `/admin/api/certificates?msisdn=${msisdn}`,
        `/admin/certificates?msisdn=${msisdn}`,
        `/admin/api/transactions?msisdn=${msisdn}`,
        `/admin/transactions?msisdn=%2B${msisdn}`,
        `/admin/api/workflows?msisdn=${msisdn}`,
        `/admin/workflows?msisdn=%2B${msisdn}`,
        `/admin/replays/plan?msisdn=%2B${msisdn}`,
      ]) {
        expect([path, (await stage.ask('operator', 'GET', path)).status]).toEqual([path, 200]);
      }
      expect((await stage.ask('admin', 'GET', `/admin/api/subscribers/${msisdn}`)).status).toBe(
        200,
      );
      expect((await stage.post('admin', '/admin/subscribers', asked)).status).toBe(200);
      const plan = { filter: { msisdn } };
      expect((await stage.ask('operator', 'POST', '/admin/api/replays/plan', plan)).status).toBe(
        200,
      );
    }
    const all = (await stage.audit.read({ action: 'view-sensitive', limit: 1000 }))?.entries ?? [];
    const [{ target } = { target: '' }] = all;
    expect(target).toMatch(/^number-/);
    const looked = all.filter((each) => each.target === target);
    expect(looked.map(({ who, details }) => [who, details?.what, details?.by]).toSorted()).toEqual([
      ['the-admin', 'phones', 'number'],
      ...['certificates', 'transactions', 'workflows'].map((what) => [
        'the-operator',
        what,
        'number',
      ]),
    ]);
    expect(JSON.stringify(all)).not.toContain(msisdn);
    // By the serial number of a certificate nobody is looked for.
    await list({ serial });
    const after =
      (await stage.audit.read({ action: 'view-sensitive', limit: 1000 }))?.entries ?? [];
    expect(after).toHaveLength(all.length);
  });
});

describe('the page of certificates', () => {
  const post = (what: string, fields: Record<string, string>) =>
    stage.post('operator', `/admin/certificates/${what}`, fields);
  const page = async (query: string): Promise<string> =>
    (await stage.ask('operator', 'GET', `/admin/certificates${query}`)).text;

  it.each([
    ['revoke', 'one'],
    ['revoke', 'all'],
    ['reassign', 'all'],
  ] as const)(
    'changes nothing by the button %s of %s: a page says first what will happen',
    async (what, of) => {
      const msisdn = await somebody();
      const [{ serial, serialNumber }] = await list({ msisdn });
      const about = { msisdn, ...(of === 'one' && { serial }) };
      // The reason that an old page had chosen by itself does not count.
      const asked = await post(what, { ...about, reason: 'keyCompromise' });
      const between = await asked.text();
      expect([asked.status, between.includes('<h1>')]).toEqual([200, true]);
      for (const said of [`+${msisdn}`, serialNumber, serial, 'This cannot be undone']) {
        expect(between).toContain(said);
      }
      expect(between).not.toContain('selected');
      expect(between).toMatch(/<button type="submit" class="danger"/);
      expect(await list({ msisdn })).toMatchObject([{ state: 'good' }]);

      const unexplained = await post(what, { ...about, confirmed: 'yes' });
      expect([
        unexplained.status,
        (await unexplained.text()).includes('aria-invalid="true"'),
      ]).toEqual([422, true]);
      expect(await list({ msisdn })).toMatchObject([{ state: 'good' }]);

      const fields = { reason: 'cessationOfOperation', why: 'New contract', confirmed: 'yes' };
      const done = await post(what, { ...about, ...fields });
      expect(done.status).toBe(303);
      const reason = what === 'revoke' ? 'cessationOfOperation' : 'affiliationChanged';
      expect(await list({ msisdn })).toMatchObject([{ state: 'revoked', reason }]);
    },
  );

  it('shows those of a number, and has each revoked by a button that looks dangerous', async () => {
    const msisdn = await somebody();
    const [certificate] = await list({ msisdn });
    const before = await page(`?msisdn=%2B${msisdn}`);
    expect(before).toContain(`Revoke the certificate ${certificate.serial}`);
    expect(before).toMatch(/class="plain small danger" aria-label="Revoke the certificate/);
    expect(before).not.toContain('<select');
    const fields = {
      msisdn,
      serial: certificate.serial,
      reason: 'cessationOfOperation',
      confirmed: 'yes',
    };
    const answer = await post('revoke', fields);
    expect(answer.status).toBe(303);
    const shown = await page(
      answer.headers.get('location')?.replace('/admin/certificates', '') ?? '',
    );
    expect(shown).toContain('No longer used');
    expect(shown).not.toContain(`Revoke the certificate ${certificate.serial}`);
    expect((await post('revoke', fields)).headers.get('location')).toContain('certificate-nothing');
    expect((await post('renew', { msisdn })).headers.get('location')).toContain(
      'certificate-renewed',
    );
  });

  it('lets a number without certificates here be given to a new person', async () => {
    const msisdn = '41700099999';
    const shown = await page(`?msisdn=${msisdn}`);
    expect(shown).toContain('no certificates here yet');
    expect(shown).not.toContain('Revoke all');
    const answer = await post('reassign', { msisdn, why: 'New contract', confirmed: 'yes' });
    expect(answer.headers.get('location')).toContain('certificate-reassigned');
  });

  it('says when a number is none, and takes no order that is damaged or without the token of the form', async () => {
    expect(await page('?msisdn=secret')).toContain('Give a number with its country code');
    const msisdn = await somebody();
    expect((await post('revoke', { msisdn, csrf: 'wrong', reason: 'superseded' })).status).toBe(
      403,
    );
    // Without a serial number the order is about all of the number.
    const damaged = await post('revoke', { msisdn, serial: 'x', reason: 'superseded' });
    expect(damaged.headers.get('location')).toContain('certificate-unknown');
    expect(await list({ msisdn })).toMatchObject([{ state: 'good' }]);
  });
});

describe('the authorities', () => {
  it('are listed with what identifies them, and rolled over by an admin', async () => {
    const { core } = stage.product;
    const [root = Buffer.of()] = await core.custodyOver(core.commands).trust();
    const authorities = async () =>
      (await stage.ask('viewer', 'GET', '/admin/api/authorities')).body.authorities as Json[];
    const [first] = await authorities();
    expect(first).toMatchObject({
      id: 'root-1',
      fingerprint: new X509Certificate(root).fingerprint256,
    });
    const rollOver = (who: 'operator' | 'admin') =>
      stage.ask(who, 'POST', '/admin/api/authorities/roll-over', {
        kind: 'issuing',
        why: 'Rehearsal',
      });
    expect((await rollOver('operator')).status).toBe(403);
    expect((await rollOver('admin')).body).toEqual({ id: 'issuing-2' });
    expect((await authorities()).map(({ id }) => id)).toEqual(['root-1', 'issuing-1', 'issuing-2']);
    expect(await audited('issuing')).toMatchObject([
      { action: 'authority-roll-over', reason: 'Rehearsal' },
    ]);
    const msisdn = await somebody();
    const key = await core
      .custodyOver(core.commands)
      .userKey({ msisdn, sscdId: 'sim', algorithm: 'EC', expired: false });
    expect(new X509Certificate(key.chain.certificates[0]).issuer).toBe('CN=Paraph Issuing CA 2');
  });
});
