/** Where private keys are: in this process and sealed in the store, or where a part keeps them. */

import { ownVault } from '../../packages/pki/src/key-vault.ts';
import type { KeyPlace } from '../part/opened.ts';
import type { Part } from '../part/part.ts';
import type { KeyPlaceRooms } from '../part/rooms.ts';

const inProcess: KeyPlace = {
  vault: () => ownVault,
  open: async () => undefined,
  checks: [],
  close: async () => undefined,
};

export const openKeyPlace = async (
  parts: readonly Part[],
  rooms: KeyPlaceRooms,
): Promise<KeyPlace> => {
  for (const part of parts) {
    const place = await part.openKeyPlace?.(rooms);
    if (place !== undefined) return place;
  }
  return inProcess;
};
