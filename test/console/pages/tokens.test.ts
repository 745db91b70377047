/** The pages of tokens and of phones, as forms are filled in there. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formIn } from '../../oauth/browser-client.ts';
import { testRedis } from '../../support/redis.ts';
import { admin, logInAs } from '../operators/stage.ts';
import { type PhoneStage, startPhoneStage } from '../phone-stage.ts';

const redis = testRedis();
let stage: PhoneStage;
let cookies: Readonly<Record<string, string>>;

beforeAll(async () => {
  stage = await startPhoneStage(redis);
  const entries: [string, string][] = [];
  for (const [name, role] of [
    ['ada', 'admin'],
    ['otto', 'operator'],
  ] as const) {
    await stage.operators.users.add(admin, { name, role });
    entries.push([name, (await logInAs(stage.operators, name)).cookie]);
  }
  cookies = Object.fromEntries(entries);
});
afterAll(async () => {
  await stage.product.stop();
});

const get = async (who: string, path: string): Promise<string> => {
  const headers = { cookie: `paraph_admin=${cookies[who]}` };
  return (await fetch(`${stage.product.url}${path}`, { headers })).text();
};

/** Sends a form of a page, by the end of its action. */
const send = async (
  who: string,
  page: string,
  name: string,
  fields: Readonly<Record<string, string>>,
) => {
  const form = formIn(await get(who, page), name);
  if (form === undefined) throw new Error(`no form ${name} for ${who}`);
  const answer = await fetch(`${stage.product.url}${form.action}`, {
    method: 'POST',
    headers: { cookie: `paraph_admin=${cookies[who]}`, origin: stage.product.url },
    body: new URLSearchParams({ ...form.fields, ...fields }),
    redirect: 'manual',
  });
  return { status: answer.status, html: await answer.text(), to: answer.headers.get('location') };
};

const secretIn = (html: string): string => /<code class="secret">([^<]+)</.exec(html)?.[1] ?? '';

describe('tokens', () => {
  it('are made for oneself, shown once, and end by a button', async () => {
    const made = await send('otto', '/admin/tokens', 'tokens', { label: 'nightly <b>', days: '7' });
    const token = secretIn(made.html);
    expect(await stage.operators.tokens.verify(token)).toMatchObject({
      name: 'otto',
      role: 'operator',
    });
    const page = await get('otto', '/admin/tokens');
    expect(page).toContain('nightly &lt;b&gt;');
    expect(page).not.toContain(token);
    expect((await send('otto', '/admin/tokens', 'revoke', { confirmed: 'yes' })).to).toBe(
      '/admin/tokens?notice=token-revoked',
    );
    expect(await stage.operators.tokens.verify(token)).toBeUndefined();
    expect(await stage.entries()).toContainEqual(
      expect.objectContaining({ who: 'otto', action: 'token-revoke', details: { of: 'otto' } }),
    );
  });

  it('of others are for admins', async () => {
    const made = await send('ada', '/admin/tokens', 'tokens', {
      name: 'otto',
      label: 'x',
      days: '1',
    });
    expect(await stage.operators.tokens.verify(secretIn(made.html))).toMatchObject({
      name: 'otto',
    });
    await send('ada', '/admin/tokens', 'tokens', { name: 'ada', label: 'for ada', days: '1' });
    expect(await get('otto', '/admin/tokens')).not.toContain('for ada');
    const foreign = await send('otto', '/admin/tokens', 'tokens', {
      name: 'ada',
      label: 'x',
      days: '1',
    });
    expect([foreign.status, secretIn(foreign.html)]).toEqual([422, '']);
  });

  it.each([
    [{ name: 'nobody' }, 'There is no such user'],
    [{ label: ' ' }, 'Say what it is for'],
    [{ label: 'x'.repeat(101) }, 'Say what it is for'],
    [{ days: '0' }, '1 to 366 days'],
    [{ days: '367' }, '1 to 366 days'],
    [{ days: 'topsecret' }, '1 to 366 days'],
  ])('are not made with %j', async (fields, problem) => {
    const before = await stage.operators.tokens.list(admin);
    const sent = await send('ada', '/admin/tokens', 'tokens', {
      name: 'ada',
      label: 'x',
      days: '1',
      ...fields,
    });
    expect(sent.status).toBe(422);
    expect(sent.html).toContain(problem);
    expect(sent.html).not.toContain('topsecret');
    expect(await stage.operators.tokens.list(admin)).toEqual(before);
  });
});

describe('phones of users', () => {
  const subjectOfUser = async (name: string) =>
    (await stage.operators.users.find(name))?.oidcSubject;

  it('are given by number when a user is added', async () => {
    const msisdn = stage.somebody();
    const added = await send('ada', '/admin/users', 'users', {
      name: 'petra',
      role: 'viewer',
      phone: msisdn,
    });
    expect(added.to).toBe('/admin/users?notice=user-with-phone');
    expect(await subjectOfUser('petra')).toBe(stage.subjectOf(msisdn));
    const browser = stage.newBrowser();
    await stage.logIn(browser, msisdn);
    expect(await stage.whoIs(browser)).toMatchObject({ name: 'petra' });
    const again = await send('ada', '/admin/users', 'users', {
      name: 'paul',
      role: 'viewer',
      phone: msisdn,
    });
    expect(again.html).toContain('or one with this phone');
    const none = await send('ada', '/admin/users', 'users', {
      name: 'paul',
      role: 'viewer',
      phone: 'me',
    });
    expect([none.status, await stage.operators.users.find('paul')]).toEqual([422, undefined]);
  });

  it('are set and removed later', async () => {
    const msisdn = stage.somebody();
    expect(
      (await send('ada', '/admin/users', 'otto/phone', { phone: msisdn, confirmed: 'yes' })).to,
    ).toBe('/admin/users?notice=user-changed');
    expect(await subjectOfUser('otto')).toBe(stage.subjectOf(msisdn));
    expect((await send('ada', '/admin/users', 'otto/phone', { phone: 'me' })).to).toBe(
      '/admin/users?notice=user-number',
    );
    const code = stage.subjectOf(stage.somebody());
    await send('ada', '/admin/users', 'otto/phone', { phone: ` ${code} `, confirmed: 'yes' });
    expect(await subjectOfUser('otto')).toBe(code);
    await send('ada', '/admin/users', 'otto/phone/remove', { confirmed: 'yes' });
    expect(await subjectOfUser('otto')).toBeUndefined();
    // Otto has none any more, so there is no such form for him.
    await expect(send('ada', '/admin/users', 'otto/phone/remove', {})).rejects.toThrow('no form');
  });

  it('are given over the API as well', async () => {
    const login = await logInAs(stage.operators, 'ada');
    const ask = async (method: string, path: string, body?: object) => {
      const answer = await fetch(`${stage.product.url}/admin/api/users${path}`, {
        method,
        headers: {
          cookie: `paraph_admin=${login.cookie}`,
          'x-csrf-token': stage.operators.csrfTokenOf(login.session),
          'content-type': 'application/json',
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return [answer.status, await answer.json()] as const;
    };
    const msisdn = stage.somebody();
    expect(await ask('POST', '', { name: 'pia', role: 'viewer', msisdn })).toEqual([
      201,
      { name: 'pia', role: 'viewer' },
    ]);
    expect(await subjectOfUser('pia')).toBe(stage.subjectOf(msisdn));
    expect((await ask('PUT', '/pia/phone', { oidcSubject: 'other' }))[0]).toBe(200);
    expect(await subjectOfUser('pia')).toBe('other');
    expect(await ask('DELETE', '/pia/phone')).toEqual([200, { result: 'changed' }]);
    expect(await subjectOfUser('pia')).toBeUndefined();
    expect((await ask('PUT', '/ada/phone', { msisdn }))[0]).toBe(409);
    for (const [body, message] of [
      [{ msisdn: 'topsecret' }, 'msisdn must be a number with its country code'],
      [{ msisdn, oidcSubject: 'x' }, 'msisdn and oidcSubject exclude each other'],
      [{}, 'msisdn or oidcSubject is needed'],
    ] as const) {
      expect(await ask('PUT', '/pia/phone', body)).toEqual([
        400,
        { error: 'bad-request', message },
      ]);
    }
  });
});
