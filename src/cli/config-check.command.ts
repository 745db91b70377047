/** `paraph config check`: what a start would say about the environment and the configuration file. */
import { loadConfiguration, warningsAbout } from '../configuration/load.ts';
import { type AddCommand, type CliContext, environmentOf, type Report, variable } from './context.ts';
import { printable } from './screen.ts';

const environmentProblems = (context: CliContext): readonly string[] => {
  try {
    environmentOf(context);
    return [];
  } catch (error) {
    return [`environment: ${error instanceof Error ? error.message : String(error)}`];
  }
};

const check = async (context: CliContext, file: string | undefined): Promise<Report> => {
  const path = file ?? variable(context, 'PARAPH_CONFIG');
  const loaded = await loadConfiguration(path);
  const problems = [...environmentProblems(context), ...(loaded.ok ? [] : loaded.problems)];
  const warnings = loaded.ok ? warningsAbout(loaded.value) : [];
  const document = { file: path ?? null, problems, warnings };
  if (problems.length > 0) {
    return {
      outcome: 'usage',
      document,
      problem: `Not usable:\n${problems.map((each) => `  ${each}`).join('\n')}`,
    };
  }
  const text =
    path === undefined ? 'No configuration file: the sandbox is served.' : `${printable(path)} is usable.`;
  return {
    outcome: 'ok',
    document,
    text: [text, ...warnings.map((each) => `Warning: ${each}.`), ''].join('\n'),
  };
};

export const addConfig: AddCommand = (program, context, done) => {
  program
    .command('config')
    .description('work with the configuration file')
    .command('check')
    .description('check the environment and the configuration file')
    .argument('[file]', 'by default the one in PARAPH_CONFIG')
    .action(async (file: string | undefined) => done(await check(context, file)));
};
