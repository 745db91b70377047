/** Opens the documents of a service, in any process that has the service key. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PartSettings } from '../../src/part/rooms.ts';
import type { RedisClient } from '../../src/redis/connect.ts';
import { createDocumentCheck } from './check.ts';
import type { DocumentShapes } from './configuration.ts';
import { createDocuments } from './documents.ts';
import { createDocumentRecords } from './records.ts';
import { createFileStore } from './store/file-store.ts';
import { createFileSeals } from './store/sealed-file.ts';

export interface DocumentStage {
  readonly settings: PartSettings<DocumentShapes>;
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly serviceKey: Uint8Array;
  readonly dataDirectory: string | undefined;
  readonly now: () => number;
}

const dayMs = 86_400_000;
const megabyte = 1_000_000;

export const openDocuments = ({
  settings: { documents: settings },
  redis,
  prefix,
  serviceKey,
  dataDirectory,
  now,
}: DocumentStage) => {
  const records = createDocumentRecords({ redis, prefix, now });
  const store = createFileStore({
    // Two services may share a data directory, and each removes what it does not know.
    folder: join(dataDirectory ?? join(tmpdir(), 'paraph'), 'documents', prefix),
    seals: createFileSeals(serviceKey),
    minFreeBytes: settings.minFreeMegabytes * megabyte,
    now: Date.now,
  });
  const { check, close } = createDocumentCheck();
  return {
    store,
    records,
    close: async (): Promise<void> => {
      store.close();
      await close();
    },
    documents: createDocuments({
      store,
      records,
      check,
      keptMs: settings.keptDays * dayMs,
      maxBytesOfOne: settings.maxMegabytes * megabyte,
      now,
    }),
  };
};
