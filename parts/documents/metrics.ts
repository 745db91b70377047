/** Counts uploads of this process, and tells what all of them have in the store. */
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { counter, gauge, type Registry } from '../../src/telemetry/registry.ts';

import type { DocumentRecords } from './records.ts';

export interface DocumentMetrics {
  uploaded(bytes: number): void;
  /** @param error The code of the refusal. */
  refused(error: string): void;
}

export const createDocumentMetrics = (
  registry: Registry,
  totals: DocumentRecords['totals'],
  onError: (error: Error) => void,
): DocumentMetrics => {
  const stored = gauge(
    registry,
    'document_stored_bytes',
    'Bytes of all documents of the service, before they are encrypted.',
    [],
    async () => {
      // Without Redis the other metrics are worth reading, too.
      const found = await totals().catch((error: unknown) => onError(toError(error)));
      if (found === undefined) return;
      stored.set(found.bytes);
      count.set(found.documents);
    },
  );
  const count = gauge(registry, 'documents', 'Documents of the service.', []);
  const uploads = counter(registry, 'document_uploads_total', 'Documents that were kept.', []);
  const bytes = counter(
    registry,
    'document_uploaded_bytes_total',
    'Bytes of documents that were kept.',
    [],
  );
  const refusals = counter(
    registry,
    'document_refusals_total',
    'Uploads of documents that were refused, by the code of the answer.',
    ['error'],
  );
  return {
    uploaded: (size) => {
      uploads.inc();
      bytes.inc(size);
    },
    refused: (error) => refusals.inc({ error }),
  };
};
