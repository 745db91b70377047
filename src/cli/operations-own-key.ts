/**
 * Whether a master key is the service's. What users and tokens are written under another one is of no use to the service, and
 * nobody would be told; so the private key of the service's certificate authority is opened first.
 *
 * A service that has never been asked for a certificate has none, and then nothing can be compared.
 */
import { z } from 'zod';
import { createSealer } from '../pki/sealed-record.ts';
import { createCustodyStore } from '../product/custody-store.ts';
import { UsageProblem } from './context.ts';
import type { OperationsService } from './operations-service.ts';

const recordSchema = z.object({ key: z.string() });
const rootName = 'ca:root';

/** @throws UsageProblem When it is another one. */
export const assertOwnKey = async (
  { redis, configuration }: OperationsService,
  masterKey: Uint8Array,
): Promise<void> => {
  const stored = await createCustodyStore(redis, configuration.queue.prefix).get(rootName);
  if (stored === undefined) return;
  const { key } = recordSchema.parse(JSON.parse(stored));
  await createSealer(masterKey)
    .open(rootName, key)
    .catch(() => {
      throw new UsageProblem(
        'The master key does not open what the service has stored: it is not that of the service.',
      );
    });
};
