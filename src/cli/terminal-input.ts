/** What is typed or piped in: a password that nobody else is to see, and the answer to a question. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { type CliContext, type Input, UsageProblem } from './context.ts';
import { printable } from './screen.ts';

/** More than any password may have, and a bound for whoever pipes a disk. */
const maxLength = 4096;

/** One line, with or without its line end. */
const readPiped = async (input: Input): Promise<string> => {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of input) {
    text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    if (text.length > maxLength) break;
  }
  return text.replace(/\r?\n$/, '');
};

/**
 * A password: from a pipe, or asked for twice, because nobody can see what is typed. Prompts go to stderr; nothing that is typed does.
 *
 * @param undone What has not been done when it is no password, for the sentence about that.
 * @returns Undefined when the user gave up.
 * @throws UsageProblem
 */
export const readPassword = async (
  { stdin, stderr }: Pick<CliContext, 'stdin' | 'stderr'>,
  undone: string,
): Promise<string | undefined> => {
  if (!stdin.isTTY) {
    const piped = await readPiped(stdin);
    if (/[\r\n]/.test(piped)) throw new UsageProblem('The password must be one line.');
    return piped;
  }
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  const lines = reader[Symbol.asyncIterator]();
  try {
    const typed: string[] = [];
    for (const prompt of ['Password: ', 'Once more: ']) {
      stderr.write(prompt);
      const { done, value } = await lines.next();
      stderr.write('\n');
      if (done) return undefined;
      typed.push(value);
    }
    if (typed[0] !== typed[1]) throw new UsageProblem(`The two passwords differ; ${undone}.`);
    return typed[0];
  } finally {
    reader.close();
  }
};

/**
 * Asks a person once before something that cannot be taken back. Scripts say `--yes`.
 *
 * @returns Undefined at Ctrl-C.
 * @throws UsageProblem Where nobody can be asked.
 */
export const confirm = async (
  { stdin, stderr, signal }: Pick<CliContext, 'stdin' | 'stderr' | 'signal'>,
  question: string,
): Promise<boolean | undefined> => {
  if (!stdin.isTTY) throw new UsageProblem('Nobody can be asked here: look with --dry-run, then say --yes.');
  stderr.write(`${printable(question)} [y/N] `);
  const reader = createInterface({ input: stdin, signal });
  const { value = '' } = await reader[Symbol.asyncIterator]().next();
  reader.close();
  if (!signal.aborted) return /^\s*y(es)?\s*$/i.test(value);
  stderr.write('\n');
  return undefined;
};
