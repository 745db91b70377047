/**
 * Waits for a promise, but not for ever: what libraries do at the end may depend on a Redis that is gone.
 *
 * @returns Whether it settled in time. A rejection counts as settled: it is over, and that is all that matters here.
 */
export const settlesWithin = async (promise: Promise<unknown>, ms: number): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([
      promise.then(
        () => true,
        () => true,
      ),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
};
