/**
 * Whether a master key is the service's. What users and tokens are written under another one is of no use to the service, and
 * nobody would be told; so the private key of the service's certificate authority is opened first.
 *
 * A service that was never started has none, and then nothing can be compared. When the key was used before, that is no service
 * that was never started, but a Redis that has lost its data.
 */
import { z } from 'zod';
import { createSealer } from '../pki/sealed-record.ts';
import { createCustodyStore } from '../product/custody-store.ts';
import { objectionToNewAuthority, readKeyUse } from '../product/key-use.ts';
import { type CliContext, environmentOf, UsageProblem } from './context.ts';
import type { OperationsService } from './operations-service.ts';

const recordSchema = z.object({ key: z.string() });
const rootName = 'ca:root';

/** @throws UsageProblem When it is another one, or Redis has lost what was stored under it. */
export const assertOwnKey = async (
  context: CliContext,
  { redis, configuration }: OperationsService,
  masterKey: Uint8Array,
): Promise<void> => {
  const stored = await createCustodyStore(redis, configuration.queue.prefix).get(rootName);
  if (stored === undefined) {
    const environment = environmentOf(context);
    const keyUse = await readKeyUse(masterKey, environment);
    const objection = objectionToNewAuthority(keyUse, environment.newAuthority);
    if (objection !== undefined) throw new UsageProblem(objection);
    return;
  }
  const { key } = recordSchema.parse(JSON.parse(stored));
  await createSealer(masterKey)
    .open(rootName, key)
    .catch(() => {
      throw new UsageProblem(
        'The master key does not open what the service has stored: it is not that of the service.',
      );
    });
};
