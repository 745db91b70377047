/** Keys of the service that more than one room names. docs/storage.md lists all. */

/** The key with the version of the store, or with {@link restoring}. */
export const storeKeyOf = (prefix: string): string => `${prefix}:store`;

/** Replaces the version until all keys of a backup are there. No process starts on such a store. */
export const restoring = 'restoring';

/** The beginning of the keys of the key custody. */
export const custodyBeginning = (prefix: string): string => `${prefix}:custody:`;
