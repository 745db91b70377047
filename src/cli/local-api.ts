/**
 * The admin API in the process of a command, over the Redis of the service.
 *
 * Users, tokens, secrets and keys are sealed with the service's master key, or derived from it.
 */
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { Configuration } from '../configuration/schema.ts';
import type { SecretDeps, UserDeps } from '../console/deps.ts';
import type { Workflow } from '../engine/define.ts';
import { type CliContext, environmentIn, UsageError } from './context.ts';
import { existingMasterKey, isConnectionError, type OperationsSession } from './service-redis.ts';

const recordSchema = z.object({ key: z.string() });
const rootName = 'ca:root';
const otherKey = 'The master key does not open what the service has stored: it is not that of the service.';

/**
 * The service cannot use users, tokens and clients that are sealed with another key, and would not
 * say so. Therefore the private key of its certificate authority is opened first, and the keys that
 * sign ID tokens. A service that was never started has none. If the key was used before, Redis has
 * lost its data.
 *
 * @throws UsageError when it is another key, or Redis has lost what was stored under it.
 */
const assertOwnKey = async (
  context: CliContext,
  { redis, configuration }: OperationsSession,
  masterKey: Uint8Array,
  { tenants }: SecretDeps,
): Promise<void> => {
  const [{ createSealer }, { createCustodyStore }, { findNewAuthorityError, readKeyUse }] = await Promise.all(
    [
      import('../pki/sealed-record.ts'),
      import('../product/custody-store.ts'),
      import('../product/key-use.ts'),
    ],
  );
  const opens = (opening: Promise<unknown>): Promise<unknown> =>
    opening.catch((error: unknown) => {
      if (isConnectionError(error)) throw error;
      throw new UsageError(otherKey);
    });
  for (const { keys } of tenants) await opens(keys.list());
  const stored = await createCustodyStore(redis, configuration.queue.prefix).get(rootName);
  if (stored !== undefined) {
    const { key } = recordSchema.parse(JSON.parse(stored));
    await opens(createSealer(masterKey).open(rootName, key));
    return;
  }
  const environment = environmentIn(context);
  const keyUse = await readKeyUse(masterKey, environment);
  const error = findNewAuthorityError(keyUse, environment.newAuthority);
  if (error !== undefined) throw new UsageError(error);
};

/**
 * What is sealed with the master key, or derived from it.
 *
 * @throws UsageError when the master key is missing, or not the service's.
 */
export const openSecrets = async (
  context: CliContext,
  session: OperationsSession,
): Promise<SecretDeps & UserDeps> => {
  const masterKey = await existingMasterKey(context);
  const secrets = session.secretsWith(masterKey);
  await assertOwnKey(context, session, masterKey, secrets);
  const { enabled, tenant } = session.configuration.operations.openid;
  const { createSubjects } = await import('../console-login/subjects.ts');
  return { ...secrets, phoneLogin: enabled ? { subjectOf: createSubjects(masterKey, tenant) } : undefined };
};

/** Charts that cannot be loaded here run in the service all the same; their contexts are not shown. */
const chartsIn = async (
  context: CliContext,
  { workflows: files }: Configuration,
): Promise<readonly Workflow[]> => {
  const [{ loadCharts }, { asServiceWorkflow }] = await Promise.all([
    import('../workflows/load.ts'),
    import('../workflows/workflows.ts'),
  ]);
  const { configurationPath = '.' } = environmentIn(context);
  const charts = await loadCharts(files, dirname(resolve(configurationPath)));
  if (charts.ok) return charts.value.map(asServiceWorkflow);
  context.stderr.write(`paraph: The workflows of the configuration are not usable: ${charts.problems[0]}\n`);
  return [];
};

/** What only some commands need, where the API runs here. */
export interface LocalNeeds {
  /** Charts are programs of the operator. */
  readonly charts: boolean;
  /** Users, tokens, secrets and keys, with the master key. */
  readonly secrets: boolean;
}

export const openLocalApi = async (
  context: CliContext,
  session: OperationsSession,
  needs: LocalNeeds,
): Promise<(request: Request) => Promise<Response>> => {
  const [{ openAdminApi }, { createFind }, { retentionOf }, { createWorkflows }, { createProcessWorkflow }] =
    await Promise.all([
      import('../console/admin-api.ts'),
      import('../transactions/transactions.ts'),
      import('../product/retention.ts'),
      import('../workflows/workflows.ts'),
      import('../workflows/stock-process.ts'),
    ]);
  const { configuration } = session;
  const { now } = context;
  const retention = retentionOf(configuration);
  const charts = needs.charts ? await chartsIn(context, configuration) : [];
  const secrets = needs.secrets ? await openSecrets(context, session) : undefined;
  const deps = {
    ...session,
    workflows: createWorkflows({
      workflows: [createProcessWorkflow({ isKnown: () => true }), ...charts],
      retention: { doneMs: retention.signedMs, failedMs: retention.failedMs },
      ...{ shards: session.shards, now },
    }),
    transactions: {
      // Only the service can verify an end. Here it is shown as the job has it.
      find: createFind({ ...session, retention, now, readEnd: async () => ({ kind: 'open' }) }),
    },
    log: { trouble: () => undefined },
    now,
  };
  return openAdminApi(deps, secrets, session.operator);
};
