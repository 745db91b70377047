/**
 * Invitations as operators make them: on the command line, through the admin API, and on the
 * console's page.
 */
import { renderSVG } from 'uqr';
import { describe, expect, it } from 'vitest';
import { useOperations } from '../../../test/cli/operations-stage.ts';
import { run } from '../../../test/cli/terminal.ts';
import { enrolPhone } from '../../../test/support/phone.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { newNumber, soon } from './stage.ts';

const redis = testRedis();
const { product, env, paraph, json } = useOperations(redis, {}, { listen: true });

const enrol = (link: string) => enrolPhone({ base: product().url, send: fetch }, link);

const tokenOf = async (name: string, role: string): Promise<string> => {
  await paraph(['users', 'add', name, '--role', role, '--msisdn', '+41700092501']);
  return (await json(['users', 'token', name])).token;
};

const signsWith = async (link: string, msisdn: string): Promise<void> => {
  const phone = await enrol(link);
  const id = await product().submit({ msisdn });
  expect((await phone.sign(await phone.prompted())).status).toBe(200);
  await soon(async () => expect(await product().statusOf(id)).toBe('500'));
};

describe('an invitation', () => {
  it('by the command line at Redis leads to a phone that signs, and stands in the audit log without the number', async () => {
    const msisdn = newNumber();
    await product().api.prepare();
    const { link, expiresAt } = await json(['subscribers', 'invite', msisdn, '--language', 'de']);
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/phone#activate=[\w-]{11}\.[\w-]{22}$/);
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 6 * 86_400_000);
    expect(await json(['subscribers', 'show', msisdn])).toMatchObject({
      msisdn,
      language: 'de',
      invitedUntil: expiresAt,
      phones: [],
    });
    await signsWith(link, msisdn);
    const { entries } = await json(['audit', '--action', 'phone-invite']);
    expect(entries[0]).toMatchObject({ via: 'cli', target: expect.stringMatching(/^number-/) });
    expect(JSON.stringify(entries)).not.toContain(msisdn.slice(1));
    expect(product().logged.join('\n')).not.toContain(link.split('#')[1]);
  });

  it('has a QR code on a terminal and on the page of the console, and none where its output is read on', async () => {
    const invite = ['subscribers', 'invite', newNumber()];
    const drawn = /^[ █▀▄]{30,}$/gm;
    const shown = await run(invite, { env: env(), tty: true });
    expect(shown.stdout.match(drawn)?.length).toBeGreaterThan(15);
    expect((await run(invite, { env: env() })).stdout).not.toMatch(drawn);
    const page = await consolePage();
    const told = await page.post({ msisdn: newNumber(), act: 'invite' });
    const link = /http[^\s<"]*#activate=[\w.-]+/.exec(told)?.[0] ?? '';
    const [, path = ''] = /(<path.*)<\/svg>/.exec(renderSVG(link, { border: 4 })) ?? [];
    expect(told).toContain('aria-label="QR code of the link"');
    expect(told).toContain(path);
  });

  it('by the command line elsewhere needs a token of an admin, and phones are listed and removed', async () => {
    const msisdn = newNumber();
    const remote = { ...env(), PARAPH_URL: product().url };
    const viewer = { ...remote, PARAPH_TOKEN: await tokenOf('vera', 'operator') };
    const refused = await run(['subscribers', 'invite', msisdn, '--json'], { env: viewer });
    expect(refused.json()).toMatchObject({ outcome: 'refused', refused: 'forbidden' });
    await paraph(['users', 'phone', 'vera', '--msisdn', '+41700092502']);
    const admin = { ...remote, PARAPH_TOKEN: await tokenOf('ada', 'admin') };
    const asked = async (...args: string[]) =>
      (await run(['subscribers', ...args, '--json'], { env: admin })).json();
    const { link } = await asked('invite', msisdn);
    await signsWith(link, msisdn);
    const { phones } = await asked('show', msisdn);
    expect(phones).toMatchObject([{ label: 'Scripted', gate: 'pin', blocked: false }]);
    expect(await asked('remove', msisdn, phones[0].id)).toMatchObject({ result: 'removed' });
    expect(await asked('remove', msisdn, phones[0].id)).toMatchObject({ outcome: 'unknown' });
    expect((await asked('show', msisdn)).phones).toEqual([]);
    expect(await asked('show', newNumber())).toMatchObject({ outcome: 'unknown' });
    expect(await asked('invite', '+41700092501')).toMatchObject({
      outcome: 'refused',
      refused: 'configured',
    });
  });

  it('on the page of the console shows its link once, and the phones of the number', async () => {
    const msisdn = newNumber();
    const page = await consolePage();
    const shown = await page.post({ msisdn, act: 'invite' });
    const link = /http[^\s<"]*#activate=[\w.-]+/.exec(shown)?.[0] ?? '';
    await signsWith(link, msisdn);
    const found = await page.post({ msisdn, act: 'find' });
    expect(found).toContain('Scripted');
    expect(found).not.toContain('#activate=');
    const phone = /name="phone" value="([\w-]+)"/.exec(found)?.[1] ?? '';
    const asked = await page.post({ msisdn, phone, act: 'remove' });
    for (const said of ['Remove the phone?', `+${msisdn.slice(1)}`, 'cannot be undone']) {
      expect(asked).toContain(said);
    }
    expect(await page.post({ msisdn, act: 'find' })).toContain(phone);
    const removed = await page.post({ msisdn, phone, act: 'remove', confirmed: 'yes' });
    expect(removed).toContain('cannot sign any more');
    expect(await page.post({ msisdn: 'secret-text', act: 'find' })).not.toContain('secret-text');
  });
});

/** The page, as somebody who is logged in by the service's link. */
const consolePage = async () => {
  const link = new URL(await product().api.consoleLink());
  const login = await fetch(new URL(link.pathname, link), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ token: link.searchParams.get('token') ?? '' }),
  });
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  const address = `${product().url}/admin/subscribers`;
  const first = await (await fetch(address, { headers: { cookie } })).text();
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(first) ?? [];
  return {
    post: async (fields: Record<string, string>): Promise<string> => {
      const body = new URLSearchParams({ csrf, ...fields });
      return (await fetch(address, { method: 'POST', headers: { cookie }, body })).text();
    },
  };
};
