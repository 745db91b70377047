/** Opens the documents of a service, in any process that has the service key. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PartSetupError } from '../../src/part/opened.ts';
import type { PartSettings } from '../../src/part/rooms.ts';
import type { RedisClient } from '../../src/redis/connect.ts';
import { createDocumentCheck } from './check.ts';
import type { DocumentShapes } from './configuration.ts';
import { createDocuments } from './documents.ts';
import { createDocumentRecords } from './records.ts';
import { createFileStore } from './store/file-store.ts';
import { createFileSeals } from './store/sealed-file.ts';
import type { DocumentStore } from './store/store.ts';

export interface DocumentStage {
  readonly settings: PartSettings<DocumentShapes>;
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly serviceKey: Uint8Array;
  readonly dataDirectory: string | undefined;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
}

const dayMs = 86_400_000;
const megabyte = 1_000_000;

const keysIn = (variables: DocumentStage['variables']) => {
  const { PARAPH_S3_ACCESS_KEY_ID: accessKeyId, PARAPH_S3_SECRET_ACCESS_KEY: secretAccessKey } =
    variables;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new PartSetupError(
      'documents.store is S3: PARAPH_S3_ACCESS_KEY_ID and PARAPH_S3_SECRET_ACCESS_KEY must be set',
    );
  return { accessKeyId, secretAccessKey };
};

const openStore = async ({
  settings: {
    documents: { store, minFreeMegabytes },
  },
  prefix,
  serviceKey,
  dataDirectory,
  variables,
}: DocumentStage): Promise<DocumentStore> => {
  const common = {
    seals: createFileSeals(serviceKey),
    minFreeBytes: minFreeMegabytes * megabyte,
    // Files are dated by this machine.
    now: Date.now,
  };
  // Two services may share a data directory or a bucket, and each removes what it does not know.
  const folder = join(dataDirectory ?? join(tmpdir(), 'paraph'), 'documents', prefix);
  if (store.kind === 'directory') return createFileStore({ ...common, folder });
  const [{ createS3Store }, { createS3Client }] = await Promise.all([
    import('./store/s3-store.ts'),
    import('./store/s3-client.ts'),
  ]);
  const { timeoutSeconds, ...place } = store;
  return createS3Store({
    ...common,
    folder: join(folder, 'drafts'),
    keyPrefix: `documents/${prefix}`,
    client: createS3Client({
      ...place,
      timeoutMs: timeoutSeconds * 1000,
      ...keysIn(variables),
    }),
  });
};

/** @throws PartSetupError for S3 without its keys. */
export const openDocuments = async (stage: DocumentStage) => {
  const {
    settings: { documents: settings },
    redis,
    prefix,
    now,
  } = stage;
  const records = createDocumentRecords({ redis, prefix, now });
  const store = await openStore(stage);
  const { check, close } = createDocumentCheck();
  return {
    store,
    records,
    documents: createDocuments({
      store,
      records,
      check,
      keptMs: settings.keptDays * dayMs,
      maxBytesOfOne: settings.maxMegabytes * megabyte,
      now,
    }),
    close: async (): Promise<void> => {
      store.close();
      await close();
    },
  };
};
