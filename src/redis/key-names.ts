/** Keys of the service that more than one room names. docs/storage.md lists all. */

/** The version of the store, or {@link restoring}. */
export const storeKeyOf = (prefix: string): string => `${prefix}:store`;

/** In place of the version, until all keys of a backup are there. No process starts on it. */
export const restoring = 'restoring';

/** Keys of the key custody begin so. */
export const custodyBeginning = (prefix: string): string => `${prefix}:custody:`;
