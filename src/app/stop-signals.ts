/** Signals within this time count as one: npm passes the terminal's Ctrl-C on again. */
const sameSignalMs = 1000;

/**
 * Makes SIGINT and SIGTERM stop the product. A second signal aborts `hurry`; after that, or after
 * the lame-duck time, a further one ends the process at once.
 */
export const stopOnSignals = (
  lameDuckMs: number,
  hurry: AbortController,
  stop: () => void,
): void => {
  let first: number | undefined;
  let latest = 0;
  const onSignal = (): void => {
    const at = Date.now();
    if (first === undefined) {
      first = at;
      latest = at;
      stop();
    } else if (at - latest > sameSignalMs) {
      latest = at;
      if (hurry.signal.aborted || at - first >= lameDuckMs) process.exit(1);
      hurry.abort();
    }
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
};
