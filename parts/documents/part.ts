/** Documents: PDFs that applications upload, and people read and sign. */
import { definePart } from '../../src/part/part.ts';
import { documentCommands } from './commands.ts';
import { documentConfiguration } from './configuration.ts';
import { documentAddition } from './signing/addition.ts';

export const documents = definePart({
  name: 'documents',
  needs: ['certificates', 'workflows', 'processes'],
  brings: { processes: documentAddition },
  configuration: documentConfiguration,
  slots: ['documents'],
  areas: ['documents'],
  describe: async () => (await import('./http/document-paths.ts')).describeDocuments(),
  commands: documentCommands,
  openApi: async (rooms) => (await import('./api.ts')).openDocumentApi(rooms),
  startWorkers: async (rooms) => (await import('./workers.ts')).startDocumentWork(rooms),
});
