/** `paraph hash-password`: the stored form of an AP_PWD, for `passwordHash` in the configuration file. */
import { hashPassword, isPlausiblePassword } from '../registry/passwords.ts';
import { type AddCommand, type CliContext, type Report, UsageProblem } from './context.ts';
import { readPassword } from './terminal-input.ts';

const hash = async (context: CliContext): Promise<Report> => {
  const password = await readPassword(context, 'nothing was hashed');
  if (!isPlausiblePassword(password)) throw new UsageProblem('The password must have 1 to 1024 bytes.');
  const passwordHash = await hashPassword(password);
  return { outcome: 'ok', document: { passwordHash }, text: `${passwordHash}\n` };
};

export const addHashPassword: AddCommand = (program, context, done) => {
  program
    .command('hash-password')
    .description('print the stored form of a password, which is typed or piped in')
    .action(async () => done(await hash(context)));
};
