/**
 * Reads a password that nobody else is to see: typed without echo, or from a pipe.
 */
import type { Input, Output } from './context.ts';

export type SecretInput =
  | { readonly kind: 'read'; readonly secret: string }
  | { readonly kind: 'differs' }
  | { readonly kind: 'interrupted' };

/** More than any password may have, and a bound for whoever pipes a disk. */
const maxLength = 4096;

/** What was piped: one line, with or without its line end. */
export const readPiped = async (input: Input): Promise<string> => {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of input) {
    text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    if (text.length > maxLength) break;
  }
  return text.replace(/\r?\n$/, '');
};

const keys = {
  interrupt: '\x03',
  endOfInput: '\x04',
  backspace: '\b',
  escape: '\x1b',
  clear: '\x15',
  delete: '\x7f',
};

/**
 * Edits a line key by key, since a terminal in raw mode leaves that to us.
 *
 * @returns The line without its end and what was typed after it; `undefined` when the user gave up.
 */
const createLineReader = (input: Input) => {
  const chunks = input[Symbol.asyncIterator]();
  const decoder = new TextDecoder();
  let waiting = '';

  const nextKeys = async (): Promise<boolean> => {
    const { done, value } = await chunks.next();
    if (done) return false;
    const typed = typeof value === 'string' ? value : decoder.decode(value, { stream: true });
    // An arrow or function key comes as one chunk; its letters are not part of a password.
    if (!typed.startsWith(keys.escape)) waiting += typed;
    return true;
  };

  return {
    readLine: async (): Promise<string | undefined> => {
      let line: readonly string[] = [];
      for (;;) {
        const [key, ...rest] = waiting;
        if (key === undefined) {
          if (!(await nextKeys())) return undefined;
          continue;
        }
        waiting = rest.join('');
        if (key === '\r' || key === '\n') return line.join('');
        if (key === keys.interrupt || key === keys.endOfInput) return undefined;
        if (key === keys.backspace || key === keys.delete) line = line.slice(0, -1);
        else if (key === keys.clear) line = [];
        else if (key >= ' ' && line.length < maxLength) line = [...line, key];
      }
    },
    close: async (): Promise<void> => {
      await chunks.return?.();
    },
  };
};

/** Asks twice, because nobody can see what was typed. Prompts go to `output`; nothing that is typed does. */
export const readTyped = async (input: Input, output: Output): Promise<SecretInput> => {
  input.setRawMode?.(true);
  const lines = createLineReader(input);
  const prompt = async (words: string): Promise<string | undefined> => {
    output.write(words);
    const line = await lines.readLine();
    output.write('\n');
    return line;
  };
  try {
    const first = await prompt('Password: ');
    if (first === undefined) return { kind: 'interrupted' };
    const second = await prompt('Once more: ');
    if (second === undefined) return { kind: 'interrupted' };
    return first === second ? { kind: 'read', secret: first } : { kind: 'differs' };
  } finally {
    input.setRawMode?.(false);
    await lines.close();
  }
};
