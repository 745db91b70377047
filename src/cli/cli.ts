/**
 * The `paraph` command, apart from the process it runs in.
 *
 * A command makes a report or throws; this file alone prints and chooses the exit code. With `--json` stdout gets one
 * JSON document, whatever happened. Without it stdout gets the result, and stderr at most one sentence: never a stack,
 * and never the value of an argument, which may be a password in the wrong place.
 */
import { Command, CommanderError } from 'commander';
import { fetchWithoutTimeout } from '../client/fetch.ts';
import { addAps } from './aps.command.ts';
import { addAudit } from './audit.command.ts';
import { addCallbacks } from './callbacks.command.ts';
import { addCancel } from './cancel.command.ts';
import { addClients } from './clients.command.ts';
import { addConfig } from './config-check.command.ts';
import { type CliContext, type Done, Ended, type Report } from './context.ts';
import { exitCodeHelp, exitCodes } from './exit-codes.ts';
import { addHashPassword } from './hash-password.command.ts';
import { addIndex } from './index.command.ts';
import { addKeys } from './keys.command.ts';
import { addLs } from './ls.command.ts';
import { addMessages } from './messages.command.ts';
import { addProfile } from './profile.command.ts';
import { addReceipt } from './receipt.command.ts';
import { addReplay } from './replay.command.ts';
import { paletteFor, printable, widthOf } from './screen.ts';
import { addServe, isPart } from './serve.command.ts';
import { addShow } from './show.command.ts';
import { addSign } from './sign.command.ts';
import { addStats } from './stats.command.ts';
import { addStatus } from './status.command.ts';
import { addUsers } from './users.command.ts';
import { readVersion } from './version.ts';
import { addWatch } from './watch.command.ts';

export type CliOptions = Pick<CliContext, 'stdout' | 'stderr' | 'stdin' | 'env'> &
  Partial<Pick<CliContext, 'signal' | 'fetch' | 'now'>>;

const termOf = (command: Command): string =>
  [
    command.name(),
    ...command.registeredArguments.map((argument) =>
      argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
    ),
  ].join(' ');

/** All commands have it but those that run the service; one has it already, with other words. */
const addJson = (command: Command): void => {
  for (const each of command.commands) {
    if (each.commands.length > 0) addJson(each);
    else if (!isPart(each.name()) && !each.options.some(({ long }) => long === '--json')) {
      each.option('--json', 'print one JSON document');
    }
  }
};

/** All commands with their options; also what docs/cli.md is checked against. */
export const createProgram = (context: CliContext, done: Done): Command => {
  const { stdout, stderr } = context;
  const program = new Command('paraph')
    .description('An open mobile signature service: sign on the phone, over JSON/HTTP.')
    .version(readVersion(), '--version', 'print the version')
    .exitOverride()
    // `[options]` at each command would leave the descriptions no room at 80 columns.
    .configureHelp({ minWidthToWrap: 30, subcommandTerm: termOf })
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      // Said by us, without values.
      outputError: () => undefined,
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText('afterAll', exitCodeHelp());
  addServe(program, context, done);
  addSign(program, context, done);
  addStatus(program, context, done);
  addReceipt(program, context, done);
  addProfile(program, context, done);
  addMessages(program, context, done);
  addHashPassword(program, context, done);
  addConfig(program, context, done);
  addClients(program, context, done);
  addKeys(program, context, done);
  addLs(program, context, done);
  addShow(program, context, done);
  addWatch(program, context, done);
  addReplay(program, context, done);
  addCancel(program, context, done);
  addCallbacks(program, context, done);
  addAudit(program, context, done);
  addStats(program, context, done);
  addUsers(program, context, done);
  addAps(program, context, done);
  addIndex(program, context, done);
  addJson(program);
  return program;
};

/** Commander's message as a sentence of ours. It quotes `--unknown=value` whole. */
const usageSentence = ({ message }: CommanderError): string => {
  const text = message
    .replace(/^error: /, '')
    .replace(/'(--?[^'=\s]+)=.*'/s, "'$1'")
    .replaceAll('\n', ' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
};

/** What was thrown, as a report; undefined when commander has printed help, because it was asked to. */
const reportOf = (error: unknown): Report | undefined => {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return undefined;
    // `paraph` alone: the help that stands on stderr by now says it.
    const problem = error.code === 'commander.help' ? 'Which command?' : usageSentence(error);
    return { outcome: 'usage', document: {}, problem };
  }
  if (error instanceof Ended) return error.report;
  const problem = error instanceof Error ? error.message : String(error);
  return { outcome: 'unexpected', document: {}, problem: `Unexpected: ${problem}` };
};

const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

const print = (context: CliContext, { outcome, document, text, problem }: Report, json: boolean): number => {
  const { stdout, stderr } = context;
  if (json)
    stdout.write(`${JSON.stringify({ outcome, ...document, ...(problem !== undefined && { problem }) })}\n`);
  else if (text !== undefined) stdout.write(text);
  if (problem !== undefined) {
    stderr.write(`${paletteFor(stderr, context).red('paraph:')} ${printableLines(problem)}\n`);
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
    ...options,
  };
  let end = undefined as Report | number | undefined;
  try {
    const program = createProgram(context, (given) => {
      end = given;
    });
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    end = reportOf(error);
  }
  if (typeof end === 'number') return end;
  // Also where commander could not get as far as to see it.
  return end === undefined ? exitCodes.ok.code : print(context, end, args.includes('--json'));
};
