/** What this part brings to processes: documents that people sign. */
import type { ProcessAddition } from '../../processes/index.ts';
import { shownDocuments } from '../console/shown.ts';
import { documentsInDefinition, namedDocuments } from './definition.ts';
import type { SigningShapes } from './open-work.ts';

export const documentAddition: ProcessAddition<SigningShapes> = {
  definition: documentsInDefinition,
  openCheck: async ({ redis, prefix, now }) => {
    const { createDocumentRecords } = await import('../records.ts');
    const records = createDocumentRecords({ redis, prefix, now });
    return async (apId, members) => {
      const named = namedDocuments(members);
      const found = await Promise.all(named.map(({ document }) => records.find(document)));
      const wrong = found.findIndex((each) => each?.apId !== apId);
      return wrong === -1 ? undefined : `documents[${wrong}].document is not known`;
    };
  },
  openConsole: async (rooms) =>
    (await import('../console/process-documents.ts')).openDocumentConsole(rooms),
  shown: shownDocuments,
  openPages: async (rooms) => (await import('../reader/open-pages.ts')).openReaderPages(rooms),
  openWork: async (rooms) => (await import('./open-work.ts')).openSigningWork(rooms),
};
