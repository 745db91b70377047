/**
 * The `paraph` command, without the process it runs in.
 *
 * A command returns a report or throws; only this file prints and chooses the exit code. With
 * `--json` stdout always gets one JSON document. Without it stdout gets the result, and stderr at
 * most one sentence: never a stack, and never the value of an argument, which may be a password in
 * the wrong place.
 */
import { Command, CommanderError, Option } from 'commander';
import { fetchWithoutTimeout } from '../../packages/client/src/fetch.ts';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { parts } from '../../parts/parts.ts';
import {
  type AddCommand,
  type CliContext,
  CommandEnd,
  type Done,
  type Report,
  UsageError,
} from '../command-line/context.ts';
import { exitCodeHelp, exitCodes } from '../command-line/exit-codes.ts';
import type { Heading } from '../command-line/part-commands.ts';
import { paletteFor, printable, widthOf } from '../command-line/screen.ts';
import { productVersion } from '../environment/product-version.ts';
import { addAps } from './aps.command.ts';
import { addAudit } from './audit.command.ts';
import { addAuthority } from './authority.command.ts';
import { addClients } from './clients.command.ts';
import { addCompletion } from './completion.command.ts';
import { addCompletionIds } from './completion-ids.command.ts';
import { addConfig } from './config.command.ts';
import { addExamples } from './examples.ts';
import { addIndex } from './index.command.ts';
import { addKeys } from './keys.command.ts';
import { addMasterKeys } from './master-key.command.ts';
import { addMessages } from './messages.command.ts';
import { withLocalApi } from './operations.ts';
import { addProfile } from './profile.command.ts';
import { addReceipt } from './receipt.command.ts';
import { addReplay } from './replay.command.ts';
import { addServe, isPart } from './serve.command.ts';
import { addSign, addStatus } from './sign.command.ts';
import { addRefusals, addStats } from './stats.command.ts';
import { withStore } from './store.ts';
import { addTransactions } from './transactions.command.ts';
import { addUsers } from './users.command.ts';
import { addWatch } from './watch.command.ts';

export type CliOptions = Pick<CliContext, 'stdout' | 'stderr' | 'stdin' | 'env'> &
  Partial<Pick<CliContext, 'signal' | 'fetch' | 'now'>>;

const commandTerm = (command: Command): string =>
  [
    command.name(),
    ...command.registeredArguments.map((argument) =>
      argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
    ),
  ].join(' ');

/**
 * Adds `--json` to all commands except those that run the service and those that have it already.
 */
const addJson = (command: Command): void => {
  for (const each of command.commands) {
    if (each.commands.length > 0) addJson(each);
    else if (!isPart(each.name()) && !each.options.some(({ long }) => long === '--json')) {
      each.option('--json', 'print one JSON document');
    }
  }
};

const isHelp = (name: string): boolean => name === 'help';

/** `users add` for the command `paraph users add`; empty for `paraph` itself. */
const pathOf = (command: Command): string =>
  command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();

/**
 * Commander shows the help of a group that is called without a command, or when the command that is
 * asked about does not exist. Here both end with a sentence. `paraph` alone shows its help: that is
 * how a newcomer looks around.
 */
const refuseWithoutCommand = (group: Command): void => {
  if (group.commands.length === 0) return;
  group.on('beforeHelp', ({ error: isProblem }: { readonly error: boolean }) => {
    const [name = '-'] = group.args;
    const isKnown = isHelp(name) || group.commands.some((command) => command.name() === name);
    if (!name.startsWith('-') && !isKnown)
      group.error(`error: unknown command '${name}'`, { code: 'commander.unknownCommand' });
    const path = pathOf(group);
    if (isProblem && path !== '') {
      const names = group.commands.map((command) => command.name()).join(', ');
      throw new UsageError(`paraph ${path} needs a command: ${names}.`);
    }
  });
  // So that a script gets its JSON. `addJson` gives the option to the commands themselves.
  if (group.parent !== null) group.addOption(new Option('--json').hideHelp());
  for (const command of group.commands) refuseWithoutCommand(command);
};

/** `help keys list` is `keys list --help`; commander reads one name only. */
const withHelpAsOption = (program: Command, args: readonly string[]): readonly string[] => {
  let group: Command | undefined = program;
  for (const [index, name] of args.entries()) {
    if (isHelp(name)) return [...args.toSpliced(index, 1), '--help'];
    group = group?.commands.find((command) => command.name() === name);
    if (group === undefined || group.commands.length === 0) return args;
  }
  return args;
};

/** The commands, in the groups and the order of `--help`. */
const groups: Readonly<Record<Heading, readonly AddCommand[]>> = {
  'Run the service:': [addServe, addAuthority],
  'Sign:': [addSign, addStatus, addReceipt, addProfile, addMessages],
  'Workflows:': [],
  'Operate:': [addTransactions, addWatch, addReplay, addAudit, addStats, addRefusals],
  'Administer:': [addUsers, addAps, addClients, addKeys, addMasterKeys, addIndex, addConfig],
  'More:': [addCompletion, addCompletionIds],
};

/** All commands with their options. docs/cli.md is tested against it. */
export const createProgram = (context: CliContext, done: Done): Command => {
  const { stdout, stderr } = context;
  const program = new Command('paraph')
    .description('An open mobile signature service: sign on the phone, over JSON/HTTP.')
    .version(productVersion() ?? 'unknown', '--version', 'print the version')
    .exitOverride()
    // `[options]` at each command would leave the descriptions no room at 80 columns.
    .configureHelp({ minWidthToWrap: 30, subcommandTerm: commandTerm })
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      // We print errors ourselves, without values.
      outputError: () => undefined,
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpCommand(
      new Command('help').argument('[command]').description('as --help').helpGroup('More:'),
    )
    .addHelpText('after', exitCodeHelp());
  for (const [heading, own] of Object.entries(groups) as [Heading, readonly AddCommand[]][]) {
    program.commandsGroup(heading);
    const ofParts = parts.flatMap(({ commands }) => commands?.add[heading] ?? []);
    for (const add of [...own, ...ofParts]) add(program, context, done);
  }
  addJson(program);
  addExamples(program, Object.assign({}, ...parts.map(({ commands }) => commands?.examples)));
  refuseWithoutCommand(program);
  return program;
};

/** Commander's message without the value of `--unknown=value`, which it quotes. */
const usageSentence = ({ message }: CommanderError): string => {
  const text = message
    .replace(/^error: /, '')
    .replace(/'(--?[^'=\s]+)=.*'/s, "'$1'")
    .replaceAll('\n', ' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
};

/** @returns Undefined when commander has printed the help that was asked for. */
const reportError = (error: unknown): Report | undefined => {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return undefined;
    // `paraph` alone: commander has printed the help on stderr.
    const problem = error.code === 'commander.help' ? 'Which command?' : usageSentence(error);
    return { outcome: 'usage', document: {}, problem };
  }
  if (error instanceof CommandEnd) return error.report;
  return { outcome: 'unexpected', document: {}, problem: `Unexpected: ${toError(error).message}` };
};

const print = (
  context: CliContext,
  { outcome, document, text, problem }: Report,
  json: boolean,
): number => {
  const { stdout, stderr } = context;
  if (json) stdout.write(`${JSON.stringify({ outcome, ...document, problem })}\n`);
  else if (text !== undefined) stdout.write(text);
  if (problem !== undefined) {
    const lines = problem.split('\n').map(printable).join('\n');
    stderr.write(`${paletteFor(stderr, context).red('paraph:')} ${lines}\n`);
  }
  return exitCodes[outcome].code;
};

/**
 * Runs one command to its end.
 *
 * @param args Without the program: `['sign', '+41700092501', 'Sign in?']`.
 * @returns The exit code. Never rejects.
 */
export const runCli = async (args: readonly string[], options: CliOptions): Promise<number> => {
  const context: CliContext = {
    signal: new AbortController().signal,
    fetch: fetchWithoutTimeout,
    now: Date.now,
    parts,
    withLocalApi,
    withStore,
    ...options,
  };
  let end = undefined as Report | number | undefined;
  try {
    const program = createProgram(context, (given) => {
      end = given;
    });
    await program.parseAsync([...withHelpAsOption(program, args)], { from: 'user' });
  } catch (error) {
    end = reportError(error);
  }
  if (typeof end === 'number') return end;
  // Commander may have failed before it read `--json`.
  return end === undefined ? exitCodes.ok.code : print(context, end, args.includes('--json'));
};
