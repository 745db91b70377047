/**
 * Something of a provider that is fetched when it is needed and then kept, such as its keys.
 *
 * Anyone can make a caller ask for a fetch, so fetches have a cool-down, counted from the start of
 * the last one. Parallel callers wait for the same fetch. When a fetch fails, what was fetched
 * before stays. A clock that was set back ends the cool-down and makes what is kept old.
 */
export const createKeptFetch = <T extends object>({
  fetch,
  now,
  cooldownMs,
}: {
  /** Gives a string that says why it has failed. Must not reject. */
  readonly fetch: () => Promise<T | string>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Least time between the starts of two fetches. */
  readonly cooldownMs: number;
}) => {
  let value: T | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let failure: string | undefined;
  let flight: Promise<void> | undefined;

  const load = async (): Promise<void> => {
    const startedAt = now();
    triedAt = startedAt;
    const fetched = await fetch();
    flight = undefined;
    failure = typeof fetched === 'string' ? fetched : undefined;
    if (typeof fetched === 'string') return;
    value = fetched;
    fetchedAt = startedAt;
  };

  const isPast = (sinceMs: number, ms: number): boolean => sinceMs >= ms || sinceMs < 0;

  return {
    /** Undefined before the first fetch that succeeds. */
    value: (): T | undefined => value,
    /** Why the last fetch has failed; undefined when it has not. */
    failure: (): string | undefined => failure,
    /** True without a value, too. */
    isOlderThan: (ms: number): boolean => isPast(now() - fetchedAt, ms),
    /** Joins the fetch under way, or starts one unless it is too soon. Never rejects. */
    refresh: (): Promise<void> => {
      if (flight === undefined && isPast(now() - triedAt, cooldownMs)) flight = load();
      return flight ?? Promise.resolve();
    },
  };
};
