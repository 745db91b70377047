/**
 * The outcomes of commands, for scripts: the exit code, and the same as a word in the JSON. They
 * are a public contract; `--help` and docs/cli.md print them from here. 130 is the code of shells
 * for Ctrl-C.
 */
export const exitCodes = {
  ok: { code: 0, meaning: 'It worked.' },
  unexpected: { code: 1, meaning: 'Something failed that should not: a start, a file, a bug.' },
  usage: {
    code: 2,
    meaning: 'The command line, the environment or a file named in them is not usable.',
  },
  fault: { code: 3, meaning: 'The service answered with a Fault; its code is in the JSON.' },
  unverified: {
    code: 4,
    meaning: 'There is a signature (or another signed record), and it did not verify.',
  },
  unreachable: { code: 5, meaning: 'No signature service (or no Redis) answered.' },
  outstanding: { code: 6, meaning: 'The transaction is still open; ask again.' },
  refused: {
    code: 7,
    meaning: 'It may not be done, or not as things stand; nothing has happened.',
  },
  unknown: {
    code: 8,
    meaning: 'What you named is not there: a transaction, user, token, client …',
  },
  interrupted: { code: 130, meaning: 'Ctrl-C. What was sent goes on without us.' },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;

export type Outcome = keyof typeof exitCodes;

const rows = Object.entries(exitCodes);

/** The list of exit codes at the end of `--help`. */
export const exitCodeHelp = (): string =>
  [
    '',
    'Exit codes:',
    ...rows.map(([, { code, meaning }]) => `  ${String(code).padEnd(5)}${meaning}`),
    '',
  ].join('\n');

/** The table of docs/cli.md. */
export const exitCodeTable = (): string =>
  [
    '| Code | `outcome` | Meaning |',
    '|---|---|---|',
    ...rows.map(([outcome, { code, meaning }]) => `| ${code} | \`${outcome}\` | ${meaning} |`),
    '',
  ].join('\n');
