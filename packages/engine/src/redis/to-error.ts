/** Makes an Error of a caught value, which may be anything. */
export const toError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));

/** Errors of ioredis, and of Node below it. */
const awayPattern =
  /^(Command timed out|Connection is closed|Stream isn't writeable|None of startup nodes)/;
const awayNames = ['MaxRetriesPerRequestError', 'ClusterAllFailedError', 'SilentRedis'];
/**
 * The codes with which answers of Redis begin while it cannot be used. Codes that would show a bug
 * of ours are not among them.
 */
export const unusableCodes = [
  'OOM',
  'LOADING',
  'READONLY',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'MISCONF',
  'NOREPLICAS',
  'BUSY',
  'LATE',
] as const;
const unusablePattern = new RegExp(`^(${unusableCodes.join('|')}) `);

/** Whether Redis has answered that it takes no such command now, and so has changed nothing. */
export const isRefusedNow = (error: unknown): boolean =>
  error instanceof Error && unusablePattern.test(error.message);

/** Whether Redis is away, full or not ready: the same may be asked again later. */
export const isRedisAway = (error: unknown): boolean =>
  error instanceof Error &&
  (awayNames.includes(error.name) ||
    awayPattern.test(error.message) ||
    isRefusedNow(error) ||
    ('code' in error &&
      /^E(CONN|PIPE|TIMEDOUT|NOTFOUND|HOSTUNREACH|AI_AGAIN)/.test(String(error.code))));
