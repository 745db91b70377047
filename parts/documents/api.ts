/** Documents in a process with the API. */
import type { HealthCheck } from '../../src/http/health.route.ts';
import type { ApiPart } from '../../src/part/opened.ts';
import type { ApiRooms } from '../../src/part/rooms.ts';
import type { DocumentShapes } from './configuration.ts';
import { createDocumentRoutes } from './http/documents.route.ts';
import { createDocumentMetrics } from './metrics.ts';
import { openDocuments } from './open.ts';
import { type DocumentStore, StoreError } from './store/store.ts';

/**
 * Tells when the store cannot be used, and does not fail: signatures need no documents, and all
 * processes would leave the rotation at once.
 */
const storeCheck = ({ probe }: Pick<DocumentStore, 'probe'>): HealthCheck => ({
  name: 'documents',
  trouble: 'The store of documents takes no files',
  look: async () => {
    try {
      await probe();
      return { ok: true };
    } catch (error) {
      const trouble = error instanceof StoreError ? error.trouble : 'away';
      return { ok: true, reason: `The store of documents is ${trouble}: uploads are refused` };
    }
  },
});

export const openDocumentApi = async (rooms: ApiRooms<DocumentShapes>): Promise<ApiPart> => {
  const { documents, records, store, close } = await openDocuments(rooms);
  // A store that is away now answers later; what was left behind then stays until the next start.
  await store.tidy().catch(rooms.onError);
  return {
    routes: createDocumentRoutes({
      ...rooms.applications,
      documents,
      metrics: createDocumentMetrics(rooms.registry, records.totals, rooms.onError),
    }),
    close,
    checks: [storeCheck(store)],
  };
};
