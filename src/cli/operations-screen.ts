/** The lower part of a terminal, drawn again and again in its place. */
import type { CliContext } from './context.ts';

export interface LiveScreen {
  /** @param lines None may be wider than the terminal. */
  draw(lines: readonly string[]): void;
}

export const createLiveScreen = ({ stdout }: Pick<CliContext, 'stdout'>): LiveScreen => {
  let drawn = 0;
  return {
    draw: (lines) => {
      const up = drawn === 0 ? '' : `\x1b[${drawn}A`;
      // Each line is cleared behind its end, so that nothing flickers; what is below is cleared last.
      stdout.write(`${up}\r${lines.map((line) => `${line}\x1b[K\n`).join('')}\x1b[J`);
      drawn = lines.length;
    },
  };
};
