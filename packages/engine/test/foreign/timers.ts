/** `node:timers/promises` by the timers that a test may replace. */
const sleep = <T>(ms?: number, value?: T): Promise<T> =>
  new Promise((resolve) => {
    globalThis.setTimeout(() => resolve(value as T), ms);
  });

export { sleep as setTimeout };
