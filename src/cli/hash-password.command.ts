/** `paraph hash-password`: the stored form of an AP_PWD, for `passwordHash` in the configuration file. */
import type { Command } from 'commander';
import { hashPassword, isPlausiblePassword } from '../registry/passwords.ts';
import { type CliContext, type Report, UsageProblem } from './context.ts';
import { readPiped, readTyped } from './secret-input.ts';

const hash = async ({ stdin, stderr }: CliContext): Promise<Report> => {
  const read = stdin.isTTY
    ? await readTyped(stdin, stderr)
    : { kind: 'read' as const, secret: await readPiped(stdin) };
  if (read.kind === 'interrupted') {
    return { outcome: 'interrupted', document: {}, problem: 'Interrupted; nothing was hashed.' };
  }
  if (read.kind === 'differs') throw new UsageProblem('The two passwords differ; nothing was hashed.');
  if (/[\r\n]/.test(read.secret)) throw new UsageProblem('The password must be one line.');
  if (!isPlausiblePassword(read.secret)) throw new UsageProblem('The password must have 1 to 1024 bytes.');
  const passwordHash = await hashPassword(read.secret);
  return { outcome: 'ok', document: { passwordHash }, text: `${passwordHash}\n` };
};

export const addHashPassword = (
  program: Command,
  context: CliContext,
  done: (report: Report) => void,
): void => {
  program
    .command('hash-password')
    .description('print the stored form of a password, which is typed or piped in')
    .option('--json', 'print one JSON document')
    .action(async () => done(await hash(context)));
};
