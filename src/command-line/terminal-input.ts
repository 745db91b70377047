/**
 * Reads from a keyboard or a pipe: a password, without showing it, and the answer to a question.
 */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { type CliContext, CommandEnd, type Input, interrupted, UsageError } from './context.ts';
import { printable } from './screen.ts';

/** The longest input, more than any password may have. */
const maxLength = 4096;

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
 * Reads a password from a pipe, or asks for it twice.
 *
 * @throws CommandEnd on Ctrl-C, or when the input is not a password.
 */
export const readPassword = async ({
  stdin,
  stderr,
}: Pick<CliContext, 'stdin' | 'stderr'>): Promise<string> => {
  if (!stdin.isTTY) {
    const piped = await readPiped(stdin);
    if (/[\r\n]/.test(piped)) throw new UsageError('The password must be one line.');
    return piped;
  }
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  const lines = reader[Symbol.asyncIterator]();
  try {
    const ask = async (prompt: string): Promise<string> => {
      stderr.write(prompt);
      const { done, value } = await lines.next();
      stderr.write('\n');
      if (done) throw interrupted('nothing was hashed');
      return value;
    };
    const password = await ask('Password: ');
    if (password === (await ask('Once more: '))) return password;
    throw new UsageError('The two passwords differ; nothing was hashed.');
  } finally {
    reader.close();
  }
};

/**
 * Asks before a replay. Scripts use `--yes`.
 *
 * @param document The members of the JSON when the answer is no.
 * @throws CommandEnd unless the answer is yes.
 */
export const confirm = async (
  { stdin, stderr, signal }: Pick<CliContext, 'stdin' | 'stderr' | 'signal'>,
  question: string,
  document: object,
): Promise<void> => {
  if (!stdin.isTTY)
    throw new UsageError('Nobody can be asked here: look with --dry-run, then say --yes.');
  stderr.write(`${printable(question)} [y/N] `);
  const reader = createInterface({ input: stdin, signal });
  const { value = '' } = await reader[Symbol.asyncIterator]().next();
  reader.close();
  if (signal.aborted) {
    stderr.write('\n');
    throw interrupted('nothing was replayed');
  }
  if (/^\s*y(es)?\s*$/i.test(value)) return;
  throw new CommandEnd({ outcome: 'ok', document, text: 'Nothing was replayed.\n' });
};
