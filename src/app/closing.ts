/** Closes what was opened, the latest first: at the end, and when something later cannot open. */
export const createClosing = () => {
  const ends: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  return {
    add: (end: (typeof ends)[number]): void => {
      ends.push(end);
    },
    close,
    /** @throws What `open` has thrown, after closing. */
    orClose: async <T>(open: () => Promise<T>): Promise<T> => {
      try {
        return await open();
      } catch (error) {
        await close();
        throw error;
      }
    },
  };
};

export type Closing = ReturnType<typeof createClosing>;
