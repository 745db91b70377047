/** Documents in a process with the API. */
import { passes } from '../../src/http/health.route.ts';
import type { ApiPart } from '../../src/part/part.ts';
import type { ApiRooms } from '../../src/part/rooms.ts';
import type { DocumentShapes } from './configuration.ts';
import { createDocumentRoutes } from './http/documents.route.ts';
import { createDocumentMetrics } from './metrics.ts';
import { openDocuments } from './open.ts';

export const openDocumentApi = async (rooms: ApiRooms<DocumentShapes>): Promise<ApiPart> => {
  const { documents, store, close } = await openDocuments(rooms);
  // A store that is away now answers later; what was left behind then stays until the next start.
  await store.tidy().catch(rooms.onError);
  return {
    routes: createDocumentRoutes({
      ...rooms.applications,
      documents,
      metrics: createDocumentMetrics(rooms.registry),
    }),
    close,
    checks: [passes('documents', 'The store of documents takes no files', store.probe)],
  };
};
