/** Errors of file systems as those of the store. */
import { StoreError } from './store.ts';

/** A quota and the largest size of a file are no room either. */
const full: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

const systemCodeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;

/**
 * What a file system says, as a StoreError. Errors of sockets look the same, so that a source that
 * reads from one must throw errors of its own (http/upload.ts).
 */
export const toStoreError = (error: unknown): unknown => {
  const code = systemCodeOf(error);
  if (code === undefined || error instanceof StoreError) return error;
  return new StoreError(full.has(code) ? 'full' : 'away', { cause: error });
};

export const inStore = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error);
  }
};

/** For a file or folder that may not be there. */
export const orMissing = (error: unknown): undefined => {
  if (systemCodeOf(error) !== 'ENOENT') throw error;
  return undefined;
};
