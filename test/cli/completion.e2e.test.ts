/**
 * The scripts of `paraph completion` in the shells themselves. A shell that is not installed is
 * left out, and the output says so.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'paraph-completion-'));
const scripts = { bash: 'paraph.bash', zsh: 'functions/_paraph', fish: 'paraph.fish' };
type Shell = keyof typeof scripts;

beforeAll(async () => {
  mkdirSync(join(folder, 'functions'));
  for (const [shell, file] of Object.entries(scripts))
    writeFileSync(join(folder, file), (await run(['completion', shell])).stdout);
  writeFileSync(join(folder, 'other.json'), '{}');
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', 'paraph'), double, { mode: 0o755 });
  writeFileSync(join(folder, '.zshrc'), zshrc);
  writeFileSync(join(folder, 'type.zsh'), typeInZsh);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ask = (shell: Shell, ...words: readonly string[]): string =>
  execFileSync(shell, words, {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      HOME: folder,
      ZDOTDIR: folder,
      TERM: 'dumb',
    },
    timeout: 30_000,
  });

const inBash = (line: string): readonly string[] => {
  // As Bash does: a colon is a word.
  const words = line.split(' ').flatMap((word) => word.split(/(:)/));
  const typed = words.map((word) => `'${word}'`).join(' ');
  const offer = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _paraph; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return ask('bash', '--norc', '-c', `source ${scripts.bash}; ${offer}`).trim().split('\n');
};

/** Fish says what it offers, and for what. */
const inFish = (line: string): readonly string[] =>
  ask('fish', '--no-config', '-c', `source ${scripts.fish}; complete -C ${JSON.stringify(line)}`)
    .trim()
    .split('\n')
    .map((offer) => offer.split('\t')[0] ?? '');

/**
 * Zsh completes only for somebody who types: Tab, and then Return, which writes the line into a
 * file.
 */
const zshrc = `
PS1='ready> '
[[ $WAY == fpath ]] && fpath=($ZDOTDIR/functions $fpath)
autoload -Uz compinit
compinit -D -u
[[ $WAY == source ]] && source $ZDOTDIR/functions/_paraph
tell() { print -r -- $BUFFER > $ZDOTDIR/line; exit }
zle -N tell
bindkey '^M' tell
`;
const typeInZsh = `
zmodload zsh/zpty
export WAY=$1
zpty shell 'zsh -i'
zpty -r -m shell seen '*ready> *'
zpty -n -w shell "$2"$'\t\r'
while zpty -r shell seen; do :; done
`;
const inZsh = (way: 'source' | 'fpath', line: string): string => {
  ask('zsh', '-f', 'type.zsh', way, line);
  return readFileSync(join(folder, 'line'), 'utf8').trim();
};

/** What is typed, and the one word that fits. */
const lines = [
  ['paraph rest', 'restore'],
  ['paraph users ph', 'phone'],
  ['paraph replay --dry', '--dry-run'],
  ['paraph replay --reason ls --fol', '--follow'],
  ['paraph completion z', 'zsh'],
  ['paraph ls --state fai', 'failed'],
  ['paraph ls --fault 90', '900'],
  ['paraph workflow ls --status canc', 'cancelled'],
  ['paraph users add anna --role op', 'operator'],
  ['paraph certificates revoke --reason superse', 'superseded'],
] as const;

/** Ids that the service is asked for. Its command is a double here: the shells are tried. */
const idLines = [
  ['paraph ls --ap mid://sho', 'mid://shop.example'],
  ['paraph sign --ap-id mid://sho', 'mid://shop.example'],
  [
    'paraph workflow ls --url http://10.0.0.1 --token-env T --ap mid://els',
    'mid://elsewhere.example',
  ],
  ['paraph workflow show order/', 'order/A-17'],
] as const;
const double = `#!/bin/sh
case "$*" in
  "completion-ids aps") printf 'mid://shop.example\\nmid://bank.example\\n' ;;
  "completion-ids aps --url http://10.0.0.1 --token-env T") printf 'mid://elsewhere.example\\n' ;;
  "completion-ids instances") printf 'order/A-17\\nclaim/B-1\\n' ;;
esac
`;

/** None where it is not installed: a table without rows has no tests. */
const where = <T>(shell: Shell, rows: readonly T[]): readonly T[] => {
  if (spawnSync(shell, ['--version']).status === 0) return rows;
  process.stdout.write(`NOT TRIED: paraph completion in ${shell}, which is not installed\n`);
  return [];
};

describe('paraph completion', () => {
  it.each(lines)('in bash makes of %s: %s', (line, word) => {
    expect(inBash(line)).toEqual([word]);
  });

  it.each(idLines)('in bash makes of %s an id of the service', (line, word) => {
    // Bash has what stands before the colon already.
    expect(inBash(line)).toEqual([word.slice(word.lastIndexOf(':') + 1)]);
  });

  it('offers bash the commands, the values of an argument and the options', () => {
    expect(inBash('paraph re')).toEqual(['receipt', 'replay', 'refusals', 'restore']);
    expect(inBash('paraph completion ')).toEqual(['bash', 'zsh', 'fish', '--json']);
    expect(inBash('paraph ')).toContain('sign');
  });

  it.each(
    where('fish', [...lines, ...idLines, ['paraph config check oth', 'other.json']] as const),
  )('in fish makes of %s: %s', (line, word) => {
    expect(inFish(line)).toEqual([word]);
  });

  it.each(
    where('zsh', [
      ...lines,
      ...idLines,
      ['paraph config check oth', 'other.json'],
    ] as const).flatMap(([line, word]) => [
      [line, word, 'source'] as const,
      [line, word, 'fpath'] as const,
    ]),
  )('in zsh makes of %s: %s (by %s)', (line, word, way) => {
    expect(inZsh(way, line)).toBe(`${line.slice(0, line.lastIndexOf(' '))} ${word}`);
  });
});
