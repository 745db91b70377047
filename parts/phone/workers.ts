/** Phones in a process with workers, which prompt them. */
import type { RunningDevices } from '../../src/part/opened.ts';
import type { WorkerRooms } from '../../src/part/rooms.ts';
import type { PhoneShapes } from './configuration.ts';
import { phoneDevices } from './device.ts';
import { openPush, openStore } from './store.ts';

export const openPhoneDevices = async (
  rooms: WorkerRooms<PhoneShapes>,
): Promise<RunningDevices> => {
  const { phones, prompts } = openStore(rooms);
  const push = openPush(rooms, phones);
  return {
    make: phoneDevices({ prompts, now: rooms.now, ...(push !== undefined && { wake: push.wake }) }),
    close: async () => push?.close(),
  };
};
