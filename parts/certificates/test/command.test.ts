/** `paraph certificates`, beside the service and from elsewhere. */
import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { me, useOperations } from '../../../test/cli/operations-stage.ts';
import { testRedis } from '../../../test/support/redis.ts';

const redis = testRedis();
const { paraph, json, product } = useOperations(
  redis,
  { pki: { url: 'http://pki.test' } },
  { listen: true },
);

/** How a request to a robot of the sandbox ends. */
const endFor = async (msisdn: string): Promise<string> => {
  const id = await product().submit({ msisdn });
  await expect.poll(() => product().statusOf(id)).not.toBe('504');
  return product().statusOf(id);
};
/** When all parts of the service know of the order before. */
const signed = (msisdn: string) =>
  expect.poll(() => endFor(msisdn), { timeout: 10_000 }).toBe('500');
const one = async (msisdn: string) =>
  (await json(['certificates', 'ls', '--msisdn', msisdn])).certificates;

describe('paraph certificates', () => {
  it('lists, revokes, renews and gives a number to a new person', async () => {
    const number = '+41700092503';
    await signed(number);
    const [certificate] = await one(number);
    expect(certificate).toMatchObject({
      sscdId: 'sim',
      state: 'good',
      notAfter: expect.stringMatching(/Z$/),
    });
    const { stdout } = await paraph(['certificates', 'ls', '--msisdn', number]);
    expect(stdout).toContain('CERTIFICATE');
    expect(stdout).toContain(certificate.serial);
    const order = ['--reason', 'keyCompromise', '--why', 'Lost', '--yes'];
    expect(
      await json(['certificates', 'revoke', '--serial', certificate.serial, ...order]),
    ).toMatchObject({
      done: 1,
    });
    const again = await paraph(['certificates', 'revoke', '--msisdn', number, ...order, '--json']);
    expect(again.json()).toMatchObject({ refused: 'nothing-to-change' });
    const { entries } = await json(['audit', '--target', certificate.serial]);
    expect(entries).toMatchObject([{ who: me, action: 'certificate-revoke', reason: 'Lost' }]);
    await expect.poll(() => endFor(number), { timeout: 10_000 }).toBe('_422');
    const renewed = await paraph(['certificates', 'renew', number]);
    expect(renewed.stdout).toBe('Allowed: the next use makes a new key for 1 certificate.\n');
    await signed(number);
    expect((await one(number)).map(({ state }: { state: string }) => state)).toEqual([
      'revoked',
      'good',
    ]);
    expect(await json(['certificates', 'reassign', number, '--yes'])).toMatchObject({ done: 1 });
    const next = async (): Promise<number> => {
      await endFor(number);
      return (await one(number)).length;
    };
    await expect.poll(next, { timeout: 10_000 }).toBe(3);
    const [first, , third] = await one(number);
    expect(third.serialNumber).not.toBe(first.serialNumber);
  });

  it('does the same from elsewhere with a token of an operator, who makes no authorities', async () => {
    const number = '+41700092504';
    await signed(number);
    await json(['users', 'add', 'olga', '--role', 'operator', '--oidc-subject', 'olga']);
    const { token } = await json(['users', 'token', 'olga']);
    const env = { PARAPH_TOKEN: token, PARAPH_URL: product().url };
    const ls = await paraph(['certificates', 'ls', '--msisdn', number, '--json'], { env });
    expect(ls.json().certificates).toEqual(await one(number));
    const revoke = [
      'certificates',
      'revoke',
      '--msisdn',
      number,
      '--reason',
      'superseded',
      '--yes',
    ];
    expect((await paraph(revoke, { env })).stdout).toBe('1 certificate revoked.\n');
    const refused = await paraph(['certificates', 'roll-over', 'root', '--yes', '--json'], { env });
    expect(refused.json()).toMatchObject({ refused: 'forbidden' });
  });

  it('rolls authorities over, with the addresses of the service in their certificates', async () => {
    const { authorities } = await json(['certificates', 'authorities']);
    expect(authorities.map(({ id }: { id: string }) => id)).toEqual(['root-1', 'issuing-1']);
    expect(await json(['certificates', 'roll-over', 'root', '--yes'])).toMatchObject({
      id: 'root-2',
    });
    expect(await json(['certificates', 'roll-over', 'issuing', '--yes'])).toMatchObject({
      id: 'issuing-2',
    });
    const { core } = product();
    const made = (await core.custodyOver(core.commands).authorities()).find(
      ({ id }) => id === 'issuing-2',
    );
    const { issuer, infoAccess } = new X509Certificate(made?.certificate ?? '');
    expect(issuer).toBe('CN=Paraph Root CA 2');
    expect(infoAccess).toContain('http://pki.test/pki/root-2.cer');
    await signed('+41700092505');
  });

  it.each([
    [['ls'], 'Which? Either all of one --msisdn, or the one of a --serial.'],
    [
      ['revoke', '--reason', 'superseded', '--yes'],
      'Which? Either all of one --msisdn, or the one of a --serial.',
    ],
    [['ls', '--msisdn', 'topsecret'], 'msisdn must be a number with its country code.'],
  ])('refuses %j', async (args, problem) => {
    const { exitCode, stderr } = await paraph(['certificates', ...args]);
    expect([exitCode, stderr]).toEqual([2, `paraph: ${problem}\n`]);
  });
});
