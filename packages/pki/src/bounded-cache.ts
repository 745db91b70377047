/**
 * Remembers at most `limit` results; the least recently used go first. Callers who want the same at
 * once share one promise. A promise that rejects, and undefined as a result, are forgotten: the
 * store may be back, or have it, a moment later.
 */
export const createBoundedCache = <T>(limit: number) => {
  // A Map iterates in order of insertion: putting an entry back at each use keeps the oldest first.
  const entries = new Map<string, T>();
  return {
    delete: (key: string): void => {
      entries.delete(key);
    },
    get: (key: string, load: () => T): T => {
      const present = entries.get(key);
      const entry = present ?? load();
      if (entry === undefined) return entry;
      entries.delete(key);
      entries.set(key, entry);
      if (present !== undefined) return entry;
      const forget = (): void => {
        if (entries.get(key) === entry) entries.delete(key);
      };
      if (entry instanceof Promise) entry.then((value) => value === undefined && forget(), forget);
      const [oldest] = entries.keys();
      if (entries.size > limit && oldest !== undefined) entries.delete(oldest);
      return entry;
    },
  };
};
