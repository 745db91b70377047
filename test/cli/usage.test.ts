import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, describe, expect, it } from 'vitest';
import { fetchWithoutTimeout } from '../../packages/client/src/fetch.ts';
import { parts } from '../../parts/parts.ts';
import { createProgram } from '../../src/cli/cli.ts';
import { exitCodes, exitCodeTable } from '../../src/command-line/exit-codes.ts';
import { type Place, placeOf, places } from '../../src/command-line/place.ts';
import { piped, run } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'paraph-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileWith = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const sign = ['sign', '+41700092501', 'Hi'];
const secret = 'hunter2-hunter2';

describe('a command line that is not usable', () => {
  it.each([
    [['sgin'], "Unknown command 'sgin' (Did you mean sign?)."],
    [['help', 'nothing'], "Unknown command 'nothing'."],
    [['nothing', '--help'], "Unknown command 'nothing'."],
    [['help', 'keys', 'nothing'], "Unknown command 'nothing'."],
    [['keys', 'nothing', '--help'], "Unknown command 'nothing'."],
    [['sign', '+41700092501'], "Missing required argument 'text'."],
    [[...sign, 'there'], "Too many arguments for 'sign'. Expected 2 arguments but got 3."],
    [[...sign, `--ap-password=${secret}`], "Unknown option '--ap-password'."],
    [[...sign, '--ap-password', secret], "Unknown option '--ap-password'."],
    [
      [...sign, '--ap-password-env', secret],
      'The environment variable that --ap-password-env names is not set.',
    ],
    [
      ['hash-password', secret],
      "Too many arguments for 'hash-password'. Expected 0 arguments but got 1.",
    ],
    [[...sign, '--timeout', 'soon'], '--timeout must be a number of seconds from 1 to 3600.'],
    [[...sign, '--timeout', '0'], '--timeout must be a number of seconds from 1 to 3600.'],
    [
      [...sign, '--profile', 'fax'],
      '--profile must be one of any, sim, app, ec, rsa, geofencing, otp-text, otp-flash, or a URI.',
    ],
    [[...sign, '--url', 'ftp://example'], '--url (or PARAPH_URL) must be an http or https URL.'],
    [
      [...sign, '--url', `http://me:${secret}@example`],
      '--url (or PARAPH_URL) must have no user, query or fragment.',
    ],
    [
      [...sign, '--trust', join(folder, 'absent.pem')],
      'The file that --trust names cannot be read.',
    ],
    [
      [...sign, '--trust', fileWith('empty.pem', 'nothing')],
      'The file that --trust names has no usable certificate (PEM).',
    ],
    [
      [...sign, '--out', join(folder, 'absent', 'a.cms')],
      'The directory of the file that --out names does not exist or is not writable.',
    ],
    [
      ['status', 'H1', '--trust', 'root.pem'],
      '--trust needs --text: a signature is verified against the text that was signed.',
    ],
    [['messages', 'me'], 'The number must be in E.164, such as +41700092501.'],
  ])('%j ends with 2 and one sentence', async (args, sentence) => {
    const { exitCode, stdout, stderr } = await run(args);
    expect(stderr).toBe(`paraph: ${sentence}\n`);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
    expect(stderr).not.toContain(secret);
  });

  it('is told to a script as one JSON document, too', async () => {
    const { exitCode, json } = await run(['sign', '--json']);
    expect(exitCode).toBe(2);
    expect(json()).toEqual({ outcome: 'usage', problem: "Missing required argument 'msisdn'." });
  });

  it('is the empty one, which shows the help on stderr', async () => {
    const { exitCode, stdout, stderr } = await run([]);
    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^Usage: paraph /);
  });
});

/** All commands, those without subcommands, by their full names. */
const commandsOf = (command: Command, name = ''): readonly { name: string; command: Command }[] =>
  command.commands.length === 0
    ? [{ name: name.trim(), command }]
    : command.commands.flatMap((each) => commandsOf(each, `${name} ${each.name()}`));

/** All groups of commands, by their full names. */
const groupsOf = (command: Command, name = ''): readonly { name: string; command: Command }[] =>
  command.commands
    .filter(({ commands }) => commands.length > 0)
    .flatMap((each) => {
      const own = `${name} ${each.name()}`.trim();
      return [{ name: own, command: each }, ...groupsOf(each, own)];
    });

const nowhere = { write: () => undefined };
const program = createProgram(
  {
    stdout: nowhere,
    stderr: nowhere,
    stdin: piped(''),
    env: {},
    signal: new AbortController().signal,
    fetch: fetchWithoutTimeout,
    now: () => 0,
    parts,
    withLocalApi: () => Promise.reject(new Error('There is no service')),
    withStore: () => Promise.reject(new Error('There is no service')),
  },
  () => undefined,
);
const all = commandsOf(program);
const groups = groupsOf(program);

describe('a group of commands', () => {
  it.each(groups)('paraph $name alone says which commands it has', async ({ name, command }) => {
    const names = command.commands.map((each) => each.name()).join(', ');
    const sentence = `paraph ${name} needs a command: ${names}.`;
    const { exitCode, stdout, stderr } = await run(name.split(' '));
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `paraph: ${sentence}\n`,
    });
    const inJson = await run([...name.split(' '), '--json']);
    expect(inJson.exitCode).toBe(2);
    expect(inJson.json()).toEqual({ outcome: 'usage', problem: sentence });
  });

  it.each(groups)('paraph $name says which command it does not have', async ({ name }) => {
    const path = name.split(' ');
    for (const args of [
      [...path, 'nothing'],
      [...path, 'nothing', '--help'],
      ['help', ...path, 'nothing'],
      [...path, 'help', 'nothing'],
    ]) {
      const { exitCode, stdout, stderr } = await run(args);
      expect({ args, exitCode, stdout, stderr }).toEqual({
        args,
        exitCode: 2,
        stdout: '',
        stderr: "paraph: Unknown command 'nothing'.\n",
      });
    }
  });
});

describe('--url', () => {
  it.each(all)('is an option of paraph $name, or its help says where it works', async (one) => {
    const { name, command } = one;
    const hasUrl = command.options.some(({ long }) => long === '--url');
    const { stdout } = await run([...name.split(' '), '--help']);
    const said = Object.values(places).filter((sentence) => stdout.includes(sentence));
    expect(said).toHaveLength(hasUrl ? 0 : 1);
  });
});

describe('the help', () => {
  it.each([
    ['help', '--help'],
    ['help keys', 'keys --help'],
    ['help keys list', 'keys list --help'],
    ['help help', '--help'],
  ])('is the same by its command: %s', async (command, option) => {
    const { exitCode, stdout } = await run(command.split(' '));
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: (await run(option.split(' '))).stdout,
    });
  });

  it.each([['--help'], ...all.map(({ name }) => [`${name} --help`])])(
    'of paraph %s fits 80 columns; only that of paraph itself lists the exit codes',
    async (args) => {
      const { exitCode, stdout, stderr } = await run(args.split(' '));
      expect(exitCode).toBe(0);
      expect(stderr).toBe('');
      expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
      for (const { code, meaning } of Object.values(exitCodes)) {
        const line = `  ${String(code).padEnd(5)}${meaning}\n`;
        expect(stdout.includes(line)).toBe(args === '--help');
      }
    },
  );

  it('has all commands in groups, and examples that could be typed', async () => {
    const { stdout } = await run(['--help']);
    const groups = stdout.split('\n').filter((line) => /^[A-Z].*:$/.test(line));
    expect(groups).toEqual([
      'Options:',
      'Run the service:',
      'Sign:',
      'Workflows:',
      'Operate:',
      'Administer:',
      'More:',
      'Exit codes:',
    ]);
    let examples = 0;
    for (const { name, command } of all) {
      const help = (await run([...name.split(' '), '--help'])).stdout;
      for (const line of help.split('\nExamples:\n')[1]?.trim().split('\n') ?? []) {
        examples += 1;
        expect(line.trim()).toMatch(new RegExp(`^paraph ${name}( |$)`));
        const flags = line.match(/(?<=\s)--[\w-]+/g) ?? [];
        expect(command.options.map(({ long }) => long)).toEqual(expect.arrayContaining(flags));
      }
    }
    expect(examples).toBeGreaterThan(20);
  });

  it('has the version of the package', async () => {
    const { version } = JSON.parse(
      readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
    );
    expect(await run(['--version'])).toMatchObject({ exitCode: 0, stdout: `${version}\n` });
  });
});

describe('paraph completion', () => {
  it.each(['bash', 'zsh', 'fish'])(
    'knows each command and option in the script for %s',
    async (shell) => {
      const { stdout, exitCode } = await run(['completion', shell]);
      expect(exitCode).toBe(0);
      for (const { name, command } of all) {
        expect(stdout).toContain(name);
        for (const { long = '' } of command.options) expect(stdout).toContain(long.slice(2));
      }
    },
  );

  it('names the shells that it knows, and not what was given', async () => {
    const ran = await run(['completion', secret]);
    expect(ran).toMatchObject({
      exitCode: 2,
      stderr: 'paraph: The shell must be one of bash, zsh, fish.\n',
    });
  });
});

describe('docs/cli.md', () => {
  const document = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');

  it('holds the table of exit codes', () => {
    expect(document).toContain(exitCodeTable());
  });

  it.each(Object.keys(places) as Place[])(
    'lists the commands without --url, by where they work: %s',
    (place) => {
      const named = all.filter(({ command }) => placeOf(command) === place);
      const names = named.map(({ name }) => `\`${name}\``).join(', ');
      expect(document).toContain(`| ${names} | ${places[place].replace(/:.*$/, '')} |\n`);
    },
  );

  it.each(all.map(({ name, command }) => ({ name, command })))(
    'describes paraph $name',
    ({ name, command }) => {
      expect(document).toContain(`paraph ${name}`);
      const flags = command.options.map(({ long }) => long ?? '');
      expect(flags.filter((flag) => !document.includes(`\`${flag}`))).toEqual([]);
    },
  );
});
