/**
 * Remembers the results of asynchronous look-ups: at most `limit` of them, the least recently used go first.
 *
 * Promises are kept, not values, so that many callers who want the same thing at once share one look-up. A look-up
 * that fails, or finds nothing, is forgotten: the store may be back, or the thing be there, a moment later.
 */
export interface BoundedCache<T> {
  get(key: string, load: () => Promise<T>): Promise<T>;
}

export const createBoundedCache = <T>(limit: number): BoundedCache<T> => {
  // A Map iterates in order of insertion: putting an entry back at each use keeps the oldest in front.
  const entries = new Map<string, Promise<T>>();
  const forget = (key: string, entry: Promise<T>): void => {
    if (entries.get(key) === entry) entries.delete(key);
  };
  return {
    get: (key, load) => {
      const present = entries.get(key);
      if (present !== undefined) {
        entries.delete(key);
        entries.set(key, present);
        return present;
      }
      const entry = load();
      entries.set(key, entry);
      entry.then(
        (value) => {
          if (value === undefined) forget(key, entry);
        },
        () => forget(key, entry),
      );
      const [oldest] = entries.keys();
      if (entries.size > limit && oldest !== undefined) entries.delete(oldest);
      return entry;
    },
  };
};
