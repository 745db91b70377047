/** Asks a person once before something that cannot be taken back. Scripts say `--yes`. */
import { type CliContext, UsageProblem } from './context.ts';
import { printable } from './screen.ts';

const interruption = (signal: AbortSignal): Promise<'interrupted'> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve('interrupted');
    signal.addEventListener('abort', () => resolve('interrupted'), { once: true });
  });

/** One line as the terminal hands it over; empty at the end of the input. */
const readLine = async ({ stdin }: Pick<CliContext, 'stdin'>): Promise<string> => {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stdin) {
    text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    if (/[\r\n]/.test(text) || text.length > 1000) break;
  }
  return text.trim();
};

/** @throws UsageProblem Where nobody can be asked. */
export const confirm = async (
  context: CliContext,
  question: string,
): Promise<'yes' | 'no' | 'interrupted'> => {
  const { stdin, stderr, signal } = context;
  if (!stdin.isTTY) throw new UsageProblem('Nobody can be asked here: look with --dry-run, then say --yes.');
  stderr.write(`${printable(question)} [y/N] `);
  const answer = await Promise.race([readLine(context), interruption(signal)]);
  if (answer === 'interrupted') {
    stderr.write('\n');
    return 'interrupted';
  }
  return /^y(es)?$/i.test(answer) ? 'yes' : 'no';
};
