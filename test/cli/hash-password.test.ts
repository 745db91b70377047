import { describe, expect, it } from 'vitest';
import { verifyPassword } from '../../src/registry/passwords.ts';
import { keyboard, piped, run } from './terminal.ts';

const password = 'Grüezi, 42 Bären';

describe('paraph hash-password', () => {
  it.each([
    ['', 'without a line end'],
    ['\n', 'with a line end'],
    ['\r\n', 'with a line end of Windows'],
  ])('hashes what is piped in (%j)', async (end) => {
    const { exitCode, stdout, stderr } = await run(['hash-password'], {
      stdin: piped(password + end),
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(await verifyPassword(stdout.trim(), password)).toBe(true);
    expect(stdout).not.toContain(password);
  });

  it('prints the hash as JSON', async () => {
    const { json } = await run(['hash-password', '--json'], { stdin: piped(password) });
    expect(json()).toEqual({ outcome: 'ok', passwordHash: expect.stringMatching(/^\$scrypt\$/) });
    expect(await verifyPassword(json().passwordHash, password)).toBe(true);
  });

  it.each([
    ['', 'The password must have 1 to 1024 bytes.'],
    ['x'.repeat(1025), 'The password must have 1 to 1024 bytes.'],
    ['x'.repeat(100_000), 'The password must have 1 to 1024 bytes.'],
    ['two\nlines', 'The password must be one line.'],
  ])('refuses what cannot be a password', async (text, sentence) => {
    const ran = await run(['hash-password'], { stdin: piped(text) });
    expect(ran).toMatchObject({ exitCode: 2, stdout: '', stderr: `paraph: ${sentence}\n` });
  });
});

describe('paraph hash-password at a terminal', () => {
  it('asks twice and shows nothing of what is typed', async () => {
    const stdin = keyboard(...password, '\r', `${password}\r`);
    const { exitCode, stdout, stderr } = await run(['hash-password'], { stdin });
    expect(exitCode).toBe(0);
    expect(stderr).toBe('Password: \nOnce more: \n');
    expect(await verifyPassword(stdout.trim(), password)).toBe(true);
    // Echo is off while somebody types, and on again afterwards.
    expect(stdin.modes).toEqual([true, false]);
  });

  it('takes both lines when they come in one piece', async () => {
    const { exitCode } = await run(['hash-password'], { stdin: keyboard('same\rsame\r') });
    expect(exitCode).toBe(0);
  });

  it('lets the user correct a line', async () => {
    const stdin = keyboard('secrex', '\x7f', 't', '\x1b[D', '\r', 'nonsense\x15', 'secret\r');
    const { stdout } = await run(['hash-password'], { stdin });
    expect(await verifyPassword(stdout.trim(), 'secret')).toBe(true);
  });

  it('hashes nothing when the two differ', async () => {
    const ran = await run(['hash-password'], { stdin: keyboard('one\r', 'other\r') });
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain('The two passwords differ; nothing was hashed.');
  });

  it.each([['secr\x03'], ['secr\x04'], ['secr']])(
    'gives up at Ctrl-C, Ctrl-D and the end (%j)',
    async (typed) => {
      const stdin = keyboard(typed);
      const ran = await run(['hash-password'], { stdin });
      expect(ran).toMatchObject({ exitCode: 130, stdout: '' });
      expect(stdin.modes).toEqual([true, false]);
    },
  );
});
