/** Phones of users: given by number, kept as what the provider will say of it. */
import { describe, expect, it } from 'vitest';
import { createSubjects } from '../../src/console/login/subjects.ts';
import { contentsOf } from '../security/redis-contents.ts';
import { testRedis } from '../support/redis.ts';
import { useOperations } from './operations-stage.ts';

const redis = testRedis();
const { paraph, json, env } = useOperations(redis);

const number = '+41790004711';
const subjectOf = (msisdn: string): string =>
  createSubjects(Buffer.from(env().PARAPH_MASTER_KEY ?? '', 'base64url'), 'default', () => ({
    version: 1,
    since: 0,
  }))(msisdn) ?? '';

const phoneOf = async (name: string): Promise<string | null> =>
  (await json(['users', 'ls'])).users.find((user: { name: string }) => user.name === name)
    ?.oidcSubject;

describe('paraph users, with a phone', () => {
  it('adds one by number, in any writing, and keeps the number nowhere', async () => {
    const written = '+41 79 000-47 11';
    await json(['users', 'add', 'anna', '--role', 'operator', '--msisdn', written]);
    expect(await phoneOf('anna')).toBe(subjectOf(number));
    const { stdout } = await paraph(['users', 'subject', '--msisdn', number]);
    expect(stdout).toBe(`${subjectOf(number)}\n`);
    const { entries } = await json(['audit', '--target', 'anna']);
    expect(entries).toMatchObject([
      { action: 'user-add', details: { subject: subjectOf(number) } },
    ]);
    for (const [key, value] of await contentsOf(redis.client(), redis.prefix.slice(-32))) {
      expect(`${key} ${value}`).not.toContain('790004711');
    }
  });

  it('sets and removes the phone of one, which is in the audit log', async () => {
    await paraph(['users', 'add', 'bert', '--role', 'viewer', '--oidc-subject', 'first']);
    const taken = await paraph(['users', 'phone', 'bert', '--msisdn', number, '--json']);
    expect(taken.json()).toMatchObject({ refused: 'exists' });
    expect((await json(['users', 'phone', 'bert', '--oidc-subject', 'second'])).result).toBe(
      'changed',
    );
    expect(await phoneOf('bert')).toBe('second');
    expect((await json(['users', 'phone', 'bert', '--remove'])).result).toBe('changed');
    expect(await phoneOf('bert')).toBeNull();
    expect((await json(['users', 'remove', 'bert'])).result).toBe('changed');
    const { entries } = await json(['audit', '--action', 'user-phone']);
    expect(entries.map(({ details }: { details: object }) => details)).toEqual([
      { phone: 'removed' },
      { subject: 'second' },
      { outcome: 'not-done', subject: subjectOf(number) },
      { subject: subjectOf(number) },
    ]);
  });

  it.each([
    [['phone', 'anna'], 'Give one of --msisdn, --oidc-subject and --remove.'],
    [
      ['phone', 'anna', '--msisdn', number, '--remove'],
      'Give one of --msisdn, --oidc-subject and --remove.',
    ],
    [
      ['phone', 'anna', '--msisdn', number, '--oidc-subject', 's'],
      'Give either --msisdn or --oidc-subject.',
    ],
    [['subject', '--msisdn', 'topsecret'], 'msisdn must be a number with its country code.'],
  ])('refuses %j', async (args, problem) => {
    const { exitCode, stderr } = await paraph(['users', ...args]);
    expect([exitCode, stderr]).toEqual([2, `paraph: ${problem}\n`]);
  });
});
