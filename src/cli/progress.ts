/**
 * A line that says what is being waited for, on a terminal only; it is gone when the waiting is over.
 */
import type { CliContext } from './context.ts';
import { isCapable, printable } from './screen.ts';

const clearLine = '\r\x1b[K';

/**
 * Does some work and shows meanwhile `waiting for +41… (12 s of 60 s)`.
 *
 * @param totalSeconds Undefined where nobody knows how long it may take.
 */
export const whileWaiting = async <T>(
  context: CliContext,
  label: string,
  totalSeconds: number | undefined,
  work: () => Promise<T>,
): Promise<T> => {
  const { stderr, now } = context;
  if (!isCapable(stderr, context)) return work();
  const began = now();
  const show = (): void => {
    const seconds = Math.floor((now() - began) / 1000);
    const time = totalSeconds === undefined ? `${seconds} s` : `${seconds} s of ${totalSeconds} s`;
    stderr.write(`${clearLine}${printable(label)} (${time})`);
  };
  show();
  const timer = setInterval(show, 1000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    stderr.write(clearLine);
  }
};
