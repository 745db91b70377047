/**
 * Keeps the records of a key custody in this process, for tests and for trying the package. Every
 * call yields once, so that two custodies on one store really race.
 */
import type { CustodyStore } from './ports.ts';

export interface MemoryStore extends CustodyStore {
  /** What a thief of the store would have; tests tamper with it. */
  readonly records: Map<string, string>;
  readonly hashes: Map<string, Map<string, string>>;
}

export const createMemoryStore = (): MemoryStore => {
  const records = new Map<string, string>();
  const hashes = new Map<string, Map<string, string>>();
  const hash = (key: string): Map<string, string> => {
    const present = hashes.get(key) ?? new Map<string, string>();
    hashes.set(key, present);
    return present;
  };
  return {
    records,
    hashes,
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
    namesOf: async (beginning) => {
      await Promise.resolve();
      return [...records.keys()].filter((name) => name.startsWith(beginning));
    },
    addField: async (key, field, value) => {
      await Promise.resolve();
      if (hash(key).has(field)) return false;
      hash(key).set(field, value);
      return true;
    },
    countFields: async (key) => {
      await Promise.resolve();
      return hash(key).size;
    },
    fields: async function* (key) {
      await Promise.resolve();
      yield [...hash(key)];
    },
  };
};
