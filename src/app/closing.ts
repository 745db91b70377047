type End = (hurry?: AbortSignal) => Promise<void>;

/** Closes what was opened, the latest first: at the end, and when something later cannot open. */
export const createClosing = () => {
  const ends: End[] = [];
  /**
   * @param hurry When it is aborted, nothing waits any more for requests that may still come.
   * @throws The first error of an end, when all others have been closed.
   */
  const close = async (hurry?: AbortSignal): Promise<void> => {
    const errors: unknown[] = [];
    for (const end of ends.splice(0).reverse())
      await end(hurry).catch((error: unknown) => errors.push(error));
    if (errors.length > 0) throw errors[0];
  };
  return {
    add: (end: End): void => {
      ends.push(end);
    },
    close,
    /** @throws What `open` has thrown, after closing. */
    orClose: async <T>(open: () => Promise<T>): Promise<T> => {
      try {
        return await open();
      } catch (error) {
        await close(AbortSignal.abort()).catch(() => undefined);
        throw error;
      }
    },
  };
};

export type Closing = ReturnType<typeof createClosing>;
