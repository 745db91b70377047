/** Counts uploads. What is stored is in Redis and is no matter of one process. */
import { counter, type Registry } from '../../src/telemetry/registry.ts';

export interface DocumentMetrics {
  uploaded(bytes: number): void;
  /** @param error The code of the refusal. */
  refused(error: string): void;
}

export const createDocumentMetrics = (registry: Registry): DocumentMetrics => {
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
