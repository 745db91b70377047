/**
 * The service's master key, for commands that read or write what is sealed with it. None is ever made here: a record under
 * another key would be of no use to the service, and would look to it as if somebody had tampered with Redis.
 */
import { existsSync } from 'node:fs';
import { type CliContext, environmentOf, UsageProblem } from './context.ts';

/** @throws UsageProblem When there is none, or it is not usable. */
export const existingMasterKey = async (context: CliContext): Promise<Uint8Array> => {
  const { masterKey, dataDirectory } = environmentOf(context);
  const { masterKeyFileIn, masterKeyFrom } = await import('../pki/master-key.ts');
  const filePath = masterKeyFileIn(dataDirectory);
  if (masterKey === undefined && !existsSync(filePath)) {
    throw new UsageProblem(
      `There is no master key in ${dataDirectory}: set PARAPH_MASTER_KEY or PARAPH_DATA as the service has them.`,
    );
  }
  try {
    return await masterKeyFrom({ environmentValue: masterKey, filePath });
  } catch (error) {
    // Its sentences are written for the operator and hold no key.
    throw new UsageProblem(`${error instanceof Error ? error.message : 'the master key is not usable'}.`);
  }
};
