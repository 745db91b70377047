import { describe, expect, it } from 'vitest';
import { fieldsText, isCapable, printable, widthOf } from '../../src/command-line/screen.ts';
import { testRedis } from '../support/redis.ts';
import { useService } from './service.ts';
import { run } from './terminal.ts';

const service = useService(testRedis());
const sign = (env: Record<string, string> = {}, tty = true) =>
  run(
    [
      'sign',
      '+41700092501',
      'Would you like to sign this text, which is rather long for one line of 80?',
    ],
    {
      tty,
      env: { PARAPH_URL: service().url, ...env },
    },
  );

const esc = '\x1b';

describe('at a terminal', () => {
  it('shows what is waited for, on stderr, and clears it', async () => {
    const { stderr, stdout } = await sign();
    expect(stderr).toContain('waiting for +41700092501 (0 s of 60 s)');
    expect(stderr.endsWith(`\r${esc}[K`)).toBe(true);
    expect(stdout).not.toContain('waiting');
  });

  it('colours what it says', async () => {
    expect((await sign()).stdout).toContain(`${esc}[32mSigned by`);
  });

  it('keeps to 80 columns', async () => {
    const { stdout } = await sign({ NO_COLOR: '1' });
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('leaves colours out with NO_COLOR, unless that is empty', async () => {
    expect((await sign({ NO_COLOR: '1' })).stdout).not.toContain(esc);
    expect((await sign({ NO_COLOR: '' })).stdout).toContain(esc);
  });

  it('writes plain lines to a terminal that understands nothing else', async () => {
    const { stdout, stderr } = await sign({ TERM: 'dumb' });
    expect(stdout + stderr).not.toContain(esc);
  });
});

describe('elsewhere', () => {
  it('shows no progress and no colours', async () => {
    const { stdout, stderr } = await sign({}, false);
    expect(stderr).toBe('');
    expect(stdout).not.toContain(esc);
  });
});

describe('fields', () => {
  const screen = { stdout: { write: () => undefined, columns: 40 }, env: {} };

  it('are wrapped in their column, long words unbroken', () => {
    const value = 'one two three four five six seven https://example.example/a/long/path eight';
    expect(fieldsText([['label', value]], screen)).toBe(
      [
        '  label  one two three four five six',
        '         seven',
        '         https://example.example/a/long/path',
        '         eight',
        '',
      ].join('\n'),
    );
  });

  it('are left out without a value', () => {
    const fields = [
      ['a', undefined],
      ['b', 'c'],
    ] as const;
    expect(fieldsText(fields, screen)).toBe('  b  c\n');
  });

  it('take a width of 0 for one that is not known', () => {
    expect(widthOf({ write: () => undefined, columns: 0 })).toBe(80);
    expect(widthOf({ write: () => undefined })).toBe(80);
    expect(isCapable({ write: () => undefined }, { env: {} })).toBe(false);
  });

  it('are printed without control characters', () => {
    expect(printable('a\x1b[31mb\nc\u2028d\u{e0001}é€😀')).toBe('a�[31mb�c�d�é€😀');
  });
});
