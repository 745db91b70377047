/**
 * The routes for secrets of OpenID clients and for keys that sign ID tokens: for admins, in the API
 * only.
 */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { listSecrets } from '../oauth/client-changes.ts';
import type { SigningKey } from '../oauth/signing-keys.ts';
import { type AdminRefusal, answer, refuse } from './answers.ts';
import type { AdminApiDeps, ConsoleEnvironment, SecretDeps, TenantSecrets } from './deps.ts';
import { json, query, text } from './input.ts';
import { type AuditAction, doneBy } from './operators/audit.ts';
import { needs } from './session/session.ts';

export const clientOrders = ['rotate', 'disable-older', 'disable-all', 'end-tokens'] as const;

export interface ShownClient {
  readonly tenant: string;
  readonly client: string;
  /**
   * The begin of each secret, milliseconds since the epoch; 0 for that of the configuration file.
   */
  readonly secrets: readonly number[];
  /** The time before which begun logins give no tokens any more; 0 when there was no such order. */
  readonly endedBefore: number;
  /** The new secret, which is shown once. */
  readonly secret?: string;
}

export interface ShownKeys {
  readonly tenant: string;
  readonly keys: readonly SigningKey[];
}

const maxPublishSeconds = 30 * 86_400;
const tenant = text(64).optional();
const clientOrder = z.strictObject({ order: z.enum(clientOrders), tenant });
const rotation = z.strictObject({
  tenant,
  publishSeconds: z.int().min(0).max(maxPublishSeconds).optional(),
});

const noTenant: AdminRefusal = [404, 'unknown-tenant', 'There is no tenant of this id'];
const noClient: AdminRefusal = [404, 'unknown', 'The tenant has no client of this id'];
const noSecret: AdminRefusal = [
  409,
  'no-secret',
  'This client has no secret; its keys are in the configuration',
];
const notStarted: AdminRefusal = [
  409,
  'not-started',
  'The service has to be started before clients are changed',
];

export const createSecretRoutes = ({
  audit,
  tenants,
}: Pick<AdminApiDeps, 'audit'> & Pick<SecretDeps, 'tenants'>): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();

  /** Records an action before it is done. Without the record nothing is done or shown. */
  const record = (
    c: Context<ConsoleEnvironment>,
    action: AuditAction,
    target: string,
    details?: Readonly<Record<string, string>>,
  ): Promise<string> =>
    audit.record({
      ...doneBy(c.get('session').operator),
      action,
      target,
      ...(details && { details }),
    });

  const showClient = async ({ id: tenant, clients, changes }: TenantSecrets, client: string) => {
    const known = clients.find((each) => each.id === client);
    const change = (await changes.read()).get(client);
    const secrets = known === undefined ? [] : listSecrets(known, change).map(({ since }) => since);
    return { tenant, client, secrets, endedBefore: change?.endedBefore ?? 0 } satisfies ShownClient;
  };

  const find = (wanted: string | undefined, client: string) => {
    const tenant = wanted === undefined ? tenants[0] : tenants.find((each) => each.id === wanted);
    if (tenant === undefined) return refuse(...noTenant);
    const found = tenant.clients.find((each) => each.id === client);
    return found === undefined ? refuse(...noClient) : { tenant, client: found };
  };

  routes.get(
    '/admin/api/clients/:id',
    needs('admin'),
    query(z.strictObject({ tenant })),
    async (c) => {
      const found = find(c.req.valid('query').tenant, c.req.param('id'));
      return found instanceof Response
        ? found
        : answer(await showClient(found.tenant, found.client.id));
    },
  );

  routes.post('/admin/api/clients/:id', needs('admin'), json(clientOrder), async (c) => {
    const { order, tenant: wanted } = c.req.valid('json');
    const found = find(wanted, c.req.param('id'));
    if (found instanceof Response) return found;
    const { tenant, client } = found;
    if (client.secretHash === undefined && order !== 'end-tokens') return refuse(...noSecret);
    // Under another master key than that of the service, the record would prevent its start.
    if ((await tenant.keys.list()).length === 0) return refuse(...notStarted);
    await record(c, 'client-change', client.id, { tenant: tenant.id, what: order });
    const rotated = order === 'rotate' ? await tenant.changes.rotate(client) : undefined;
    if (order === 'disable-older') await tenant.changes.disable(client, 'older');
    if (order === 'disable-all') await tenant.changes.disable(client, 'all');
    if (order === 'end-tokens') await tenant.changes.endTokens(client);
    return answer({ ...(await showClient(tenant, client.id)), secret: rotated?.secret });
  });

  const showKeys = async (
    wanted: string | undefined,
    read: (tenant: TenantSecrets) => Promise<readonly SigningKey[]>,
  ): Promise<Response> => {
    const chosen = tenants.filter((each) => wanted === undefined || each.id === wanted);
    if (chosen.length === 0) return refuse(...noTenant);
    const shown: ShownKeys[] = [];
    for (const tenant of chosen) shown.push({ tenant: tenant.id, keys: await read(tenant) });
    return answer({ tenants: shown });
  };

  routes.get('/admin/api/keys', needs('admin'), query(z.strictObject({ tenant })), (c) =>
    showKeys(c.req.valid('query').tenant, ({ keys }) => keys.list()),
  );

  routes.post('/admin/api/keys/rotate', needs('admin'), json(rotation), (c) => {
    const { tenant: wanted, publishSeconds } = c.req.valid('json');
    return showKeys(wanted, async ({ id, keys }) => {
      const present = await keys.list();
      // The first keys are made by the service.
      if (present.length === 0) return present;
      await record(c, 'key-rotate', id);
      return keys.rotate(publishSeconds);
    });
  });

  return routes;
};
