/** What this browser keeps of its phone, in IndexedDB. */

/**
 * @typedef {{
 *   readonly id: string,
 *   readonly number: string,
 *   readonly gate: 'pin' | 'passkey',
 *   readonly salt?: Uint8Array,
 *   readonly key: CryptoKey | import('./keys.js').WrappedKey,
 *   readonly recovery?: import('./keys.js').WrappedKey,
 * }} Phone
 *   `key` is wrapped under the PIN, or is one that cannot be exported. `recovery` is the same key
 *   under the recovery code.
 */

/** @returns {Promise<IDBDatabase>} */
const open = () =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open('paraph-phone', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('kept');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/**
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest} act
 * @returns {Promise<any>}
 */
const within = async (mode, act) => {
  const database = await open();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction('kept', mode, { durability: 'strict' });
      const request = act(transaction.objectStore('kept'));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
};

/** @param {'phone' | 'seen' | 'known'} name */
export const readKept = (name) => within('readonly', (store) => store.get(name));

/** @param {'phone' | 'seen' | 'known'} name @param {unknown} value */
export const keep = (name, value) => within('readwrite', (store) => store.put(value, name));

/** The phone, the prompt that was seen last, and the other phones that the person knows. */
export const forgetAll = () => within('readwrite', (store) => store.clear());
