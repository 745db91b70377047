/** Documents in a process with workers, beside the signing of them. */
import type { Running } from '../../src/part/opened.ts';
import type { WorkerRooms } from '../../src/part/rooms.ts';
import type { DocumentShapes } from './configuration.ts';
import { openDocuments } from './open.ts';
import { startSweep } from './sweep.ts';

export const startDocumentWork = async (rooms: WorkerRooms<DocumentShapes>): Promise<Running> => {
  const { store, records, close } = await openDocuments(rooms);
  const sweep = startSweep({ store, records }, Date.now, rooms.onError);
  return {
    close: async () => {
      await sweep.close();
      await close();
    },
  };
};
