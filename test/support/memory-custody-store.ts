import type { CustodyStore } from '../../src/pki/ports.ts';

export interface MemoryCustodyStore extends CustodyStore {
  /** What a thief of the store would have; tests tamper with it. */
  readonly records: Map<string, string>;
}

/** A custody store in this process. Every call yields once, so that two custodies on one store really race. */
export const createMemoryCustodyStore = (): MemoryCustodyStore => {
  const records = new Map<string, string>();
  return {
    records,
    get: async (key) => {
      await Promise.resolve();
      return records.get(key);
    },
    setIfAbsent: async (key, value) => {
      await Promise.resolve();
      const present = records.get(key);
      if (present !== undefined) return present;
      records.set(key, value);
      return value;
    },
  };
};
