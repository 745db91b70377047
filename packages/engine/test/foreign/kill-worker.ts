/**
 * The module that crash-worker.ts gets from kills.ts. What its files wait for takes a fifth of its
 * time.
 */
import type { Bring } from '../crash-worker.ts';

const quiet = {
  log: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  info: () => undefined,
};
let isLoaded = false;
let random = (): number => 0.4;
Object.assign(globalThis, {
  foreign: {
    setTimeout: (run: () => void, ms: number) => setTimeout(run, isLoaded ? ms / 5 : ms / 100),
    clearTimeout: (timer: NodeJS.Timeout) => clearTimeout(timer),
    setInterval: () => undefined,
    clearInterval: () => undefined,
    random: () => random(),
    fetch: async () => Response.json({}),
    console: quiet,
  },
});

const charts = await import('./kill-charts.ts');
const placed = charts.collected.place as unknown as {
  getStore(): { random?: () => number } | undefined;
};
random = () => placed.getStore()?.random?.() ?? 0.4;

export const bring: Bring = async (tell) => {
  const brought = await charts.bring(tell);
  isLoaded = true;
  return brought;
};
