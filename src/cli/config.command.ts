/**
 * `paraph config check`: what a start would say about the environment and the configuration file.
 * `paraph hash-password`: the stored form of an AP_PWD, for `passwordHash` in that file.
 */
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { loadConfiguration, warningsAbout } from '../app/configuration/load.ts';
import {
  type AddCommand,
  type CliContext,
  environmentIn,
  ok,
  type Report,
  UsageError,
  variable,
} from '../command-line/context.ts';
import { worksAt } from '../command-line/place.ts';
import { printable } from '../command-line/screen.ts';
import { readPassword } from '../command-line/terminal-input.ts';
import { hashPassword, isPlausiblePassword } from '../registry/passwords.ts';

const environmentProblems = (context: CliContext): readonly string[] => {
  try {
    environmentIn(context);
    return [];
  } catch (error) {
    return [`environment: ${toError(error).message}`];
  }
};

const check = async (context: CliContext, file: string | undefined): Promise<Report> => {
  const path = file ?? variable(context, 'PARAPH_CONFIG');
  const loaded = await loadConfiguration(path);
  const problems = [...environmentProblems(context), ...(loaded.ok ? [] : loaded.problems)];
  const warnings = loaded.ok ? warningsAbout(loaded.value) : [];
  const document = { file: path ?? null, problems, warnings };
  if (problems.length > 0) {
    const problem = `Not usable:\n${problems.map((each) => `  ${each}`).join('\n')}`;
    return { outcome: 'usage', document, problem };
  }
  const text =
    path === undefined
      ? 'No configuration file: the sandbox is served.'
      : `${printable(path)} is usable.`;
  return ok(document, [text, ...warnings.map((each) => `Warning: ${each}.`), ''].join('\n'));
};

const hash = async (context: CliContext): Promise<Report> => {
  const password = await readPassword(context);
  if (!isPlausiblePassword(password))
    throw new UsageError('The password must have 1 to 1024 bytes.');
  const passwordHash = await hashPassword(password);
  return ok({ passwordHash }, `${passwordHash}\n`);
};

export const addConfig: AddCommand = (program, context, done) => {
  const hashing = program
    .command('hash-password')
    .description('print the stored form of a password, which is typed or piped in')
    .action(async () => done(await hash(context)));
  const checking = program
    .command('config')
    .description('work with the configuration file')
    .command('check')
    .description('check the environment and the configuration file')
    .argument('[file]', 'by default the one in PARAPH_CONFIG')
    .action(async (file: string | undefined) => done(await check(context, file)));
  for (const command of [hashing, checking]) worksAt('here', command);
};
