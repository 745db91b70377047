/** A line on stderr that says how far something is, on a terminal only. */
import type { CliContext } from './context.ts';
import { isCapable, printable, widthOf } from './screen.ts';

const clearLine = '\r\x1b[K';
const barWidth = 24;

export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly label: string;
}

export const bar = (done: number, total: number): string => {
  const part = total > 0 ? Math.min(Math.max(done / total, 0), 1) : 0;
  const full = Math.floor(part * barWidth);
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}]`;
};

/** @param work Gets a function that shows where it stands; the line is gone when the work is over. */
export const whileShowing = async <T>(
  context: Pick<CliContext, 'stderr' | 'env'>,
  work: (show: (progress: Progress) => void) => Promise<T>,
): Promise<T> => {
  const { stderr } = context;
  if (!isCapable(stderr, context)) return work(() => undefined);
  const show = ({ done, total, label }: Progress): void => {
    const line = `${bar(done, total)} ${done} of ${total} ${printable(label)}`;
    stderr.write(`${clearLine}${line.slice(0, widthOf(stderr) - 1)}`);
  };
  try {
    return await work(show);
  } finally {
    stderr.write(clearLine);
  }
};
