/**
 * A private Restate server, at its full durability: the log is written with fsync before anything
 * is answered, which is the default and is said again here. The log's provider is the one for a
 * single node: fewer steps than the replicated one, and the same fsync for each batch. Four
 * partitions instead of 24, since each costs work of its own and there are few cores.
 */
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { project } from '../harness/program.ts';
import { type Guarded, startGuarded } from './guarded-process.ts';

const settings = {
  RESTATE_BIFROST__DEFAULT_PROVIDER: 'local',
  RESTATE_BIFROST__LOCAL__ROCKSDB_DISABLE_WAL: 'false',
  RESTATE_BIFROST__LOCAL__ROCKSDB_DISABLE_WAL_FSYNC: 'false',
  RESTATE_LOG_SERVER__ROCKSDB_DISABLE_WAL_FSYNC: 'false',
  RESTATE_DEFAULT_NUM_PARTITIONS: '4',
  RESTATE_NODE_NAME: 'peer',
  RESTATE_LISTEN_MODE: 'tcp',
  RESTATE_BIND_IP: '127.0.0.1',
  RESTATE_DISABLE_TELEMETRY: 'true',
  RESTATE_ADMIN__DISABLE_WEB_UI: 'true',
  RESTATE_LOG_FILTER: 'error',
} as const;

const startTimeoutMs = 60_000;
const lookMs = 50;

/** It takes no port 0. When the free port is taken before it is used, the start fails. */
const freePort = (): Promise<string> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(String(typeof address === 'object' ? address?.port : '')));
    });
  });

/** In the package for this platform, as the server's own launcher finds it. */
const binary = (): string =>
  createRequire(join(project, 'bench/peers/package.json')).resolve(
    `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
  );

/** @returns The process, the address that takes requests, and a call that makes a service known. */
export const startRestateServer = async (
  folder: string,
): Promise<Guarded & { readonly url: string; register(serviceUrl: string): Promise<void> }> => {
  const [node, admin, ingress] = await Promise.all([freePort(), freePort(), freePort()]);
  mkdirSync(join(folder, 'data'));
  const server = await startGuarded({
    name: 'restate-server',
    command: binary(),
    args: ['--no-logo'],
    environment: {
      ...settings,
      RESTATE_BASE_DIR: join(folder, 'data'),
      RESTATE_BIND_PORT: node,
      RESTATE_ADMIN__BIND_PORT: admin,
      RESTATE_INGRESS__BIND_PORT: ingress,
    },
    folder,
  });
  const url = `http://127.0.0.1:${ingress}`;
  const patience = AbortSignal.timeout(startTimeoutMs);
  const healthy = async (address: string): Promise<boolean> =>
    (await fetch(address).catch(() => undefined))?.ok ?? false;
  try {
    while (
      !(
        (await healthy(`http://127.0.0.1:${admin}/health`)) &&
        (await healthy(`${url}/restate/health`))
      )
    ) {
      if (patience.aborted) throw new Error('restate-server did not start in time');
      await delay(lookMs);
    }
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    ...server,
    url,
    register: async (serviceUrl) => {
      const answer = await fetch(`http://127.0.0.1:${admin}/deployments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ uri: serviceUrl }),
      });
      if (!answer.ok) throw new Error(`Restate refused the service: ${await answer.text()}`);
    },
  };
};
