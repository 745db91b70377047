/** A line on stderr that says how far something is, on a terminal only; it is gone when the work is over. */
import type { CliContext } from './context.ts';
import { isCapable, printable, widthOf } from './screen.ts';

const clearLine = '\r\x1b[K';
const barWidth = 24;

export const bar = (done: number, total: number): string => {
  const part = total > 0 ? Math.min(Math.max(done / total, 0), 1) : 0;
  const full = Math.floor(part * barWidth);
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}]`;
};

/** @param work Gets a function that replaces the line. */
export const whileShowing = async <T>(
  { stderr, env }: Pick<CliContext, 'stderr' | 'env'>,
  work: (show: (line: string) => void) => Promise<T>,
): Promise<T> => {
  if (!isCapable(stderr, { env })) return work(() => undefined);
  try {
    return await work((line) => stderr.write(`${clearLine}${printable(line).slice(0, widthOf(stderr) - 1)}`));
  } finally {
    stderr.write(clearLine);
  }
};

/**
 * Does some work and shows meanwhile `waiting for +41… (12 s of 60 s)`.
 *
 * @param totalSeconds Undefined where nobody knows how long it may take.
 */
export const whileWaiting = <T>(
  context: CliContext,
  label: string,
  totalSeconds: number | undefined,
  work: () => Promise<T>,
): Promise<T> =>
  whileShowing(context, async (show) => {
    const began = context.now();
    const tick = (): void => {
      const seconds = Math.floor((context.now() - began) / 1000);
      show(`${label} (${seconds} s${totalSeconds === undefined ? '' : ` of ${totalSeconds} s`})`);
    };
    tick();
    const timer = setInterval(tick, 1000);
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  });
