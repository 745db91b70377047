/**
 * The three systems, each as its makers run it: a process that keeps the state at its full
 * durability, and the service on Node, which for Paraph is an API and a worker process.
 */
import { createPublicKey, verify, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { verifySignature } from '../../packages/pki/src/verify.ts';
import { verifyEvidence } from '../../parts/processes/evidence/verify-evidence.ts';
import { project } from '../harness/program.ts';
import { type BenchContext, own } from '../harness/scenario.ts';
import { productSide } from '../harness/sides.ts';
import { processSigners, signTemplate, uniqueNumber } from '../load/requests.ts';
import { type Guarded, startGuarded } from './guarded-process.ts';
import { startPostgres } from './postgres.ts';
import { startRestateServer } from './restate-server.ts';
import { text, type Work } from './transaction-load-client.ts';
import { processRobots } from './transactions.ts';

export interface RunningSystem {
  /** Where the requests go. */
  readonly url: string;
  /** Of the service and of what keeps its state. */
  readonly pids: readonly number[];
  /** @throws When it is no signature over the text, or not those of a process. */
  check(work: Work, signature: string): Promise<void>;
}

/** A folder on the disk that all of them write to; it goes at the end. */
const folderFor = (context: BenchContext, name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `paraph-bench-${name}-`));
  context.atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const readySchema = z.object({ ready: z.object({ url: z.string(), publicKey: z.string() }) });

/** Starts services/<name>.ts. */
const startService = async (
  context: BenchContext,
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Guarded & Pick<RunningSystem, 'url' | 'check'>> => {
  const service = await own(
    context,
    startGuarded({
      name,
      command: process.execPath,
      args: [
        '--import',
        import.meta.resolve('tsx'),
        join(project, `bench/peers/services/${name}.ts`),
      ],
      environment: { NODE_ENV: 'production', ...environment },
      folder: folderFor(context, name),
    }),
  );
  const [line] = await service.says(/^\{"ready":.*\}$/m);
  const { ready } = readySchema.parse(JSON.parse(line));
  const key = createPublicKey({
    key: Buffer.from(ready.publicKey, 'base64'),
    format: 'der',
    type: 'spki',
  });
  return {
    ...service,
    url: ready.url,
    check: async (work, outcome) => {
      const signatures = outcome.split(' ');
      if (signatures.length !== (work === 'process' ? processSigners : 1))
        throw new Error(`${name} gave ${signatures.length} signatures`);
      for (const signature of signatures) {
        if (!verify('sha256', Buffer.from(text), key, Buffer.from(signature, 'base64')))
          throw new Error(`${name} did not sign the text`);
      }
    },
  };
};

/** A number gets its key when it first signs, where each peer has one key from the beginning. */
const makeKeys = async (url: string): Promise<void> => {
  const { first, numbers } = processRobots;
  const left = Array.from({ length: numbers }, (_, index) => `+${first + index}`);
  const signEach = async (): Promise<void> => {
    for (let msisdn = left.pop(); msisdn !== undefined; msisdn = left.pop()) {
      const answer = await fetch(`${url}/rest/service/sign`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: signTemplate({ mode: 'synch', msisdn }).replace('{{n}}', uniqueNumber()),
      });
      const body = await answer.text();
      if (!answer.ok) throw new Error(`a robot did not sign: ${body.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: 64 }, signEach));
};

export const startParaphSystem = async (context: BenchContext): Promise<RunningSystem> => {
  const side = await productSide(context, { appendfsync: 'always' });
  const { first, numbers } = processRobots;
  const subscribers = [{ msisdn: `+${first}`, through: `+${first + numbers - 1}`, sim: {} }];
  const worker = await side.start('worker', { subscribers });
  const api = await side.start('api', { subscribers });
  const root = await (await fetch(`${api.url}/pki/root.pem`)).text();
  const trust = [new X509Certificate(root).raw];
  context.say(`keys for ${processRobots.numbers} robots`);
  await makeKeys(api.url);
  return {
    url: api.url,
    pids: [api.pid, worker.pid, side.redis.pid],
    check: async (work, signature) => {
      if (work === 'process') {
        const verified = await verifyEvidence(signature, { serviceRoots: root });
        if (!verified.ok || verified.evidence.signatures.length !== processSigners)
          throw new Error(`The evidence does not verify: ${JSON.stringify(verified)}`);
        return;
      }
      const verified = verifySignature(Buffer.from(signature, 'base64'), text, { trust });
      if (!verified.ok)
        throw new Error(`Paraph did not sign the text: ${JSON.stringify(verified)}`);
    },
  };
};

/** Enough for commits to share the fsyncs of the log; DBOS has 10 by default. */
const poolSize = '20';

export const startDbosSystem = async (context: BenchContext): Promise<RunningSystem> => {
  const server = await own(context, startPostgres(folderFor(context, 'postgres'), context.say));
  const { url, pid, check } = await startService(context, 'dbos', {
    PEER_DATABASE_URL: server.url,
    PEER_POOL_SIZE: poolSize,
  });
  return { url, pids: [pid, server.pid], check };
};

export const startRestateSystem = async (context: BenchContext): Promise<RunningSystem> => {
  const server = await own(context, startRestateServer(folderFor(context, 'restate')));
  const { url, pid, check } = await startService(context, 'restate', { RESTATE_LOGGING: 'ERROR' });
  await server.register(url);
  return { url: server.url, pids: [pid, server.pid], check };
};
