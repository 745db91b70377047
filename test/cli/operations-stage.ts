/** A running service and the environment of its machine, for the commands of its operators. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type FaultCode, fault } from '../../packages/protocol/src/fault.ts';
import { loadCharts } from '../../parts/workflows/charts/load.ts';
import { loginApId } from '../../src/registry/login-ap-id.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import type { TestRedis } from '../support/redis.ts';
import { type SignOptions, signRequest, statusRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';
import { type Ran, type RunOptions, run } from './terminal.ts';

/** Their phones never answer by themselves: the tests answer for them. */
const firstPerson = 41_760_000_000;

/** How the audit log calls whoever runs the tests. */
export const me = `os:${userInfo().username}`;

export interface OperationsStage {
  product(): TestProduct;
  env(): Record<string, string>;
  /** Runs a command on the service's machine. */
  paraph(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** The document of a command that must end with 0. */
  json(args: readonly string[]): Promise<ReturnType<Ran['json']>>;
  /** A number that nobody else uses. */
  somebody(): string;
  submit(options?: SignOptions): Promise<string>;
  /** Answers as the phone when it has been asked. */
  answer(id: string, attempt: number, code: FaultCode): Promise<void>;
  /** Submits, and has the person fail it; the index knows it then. */
  failed(code: FaultCode, options?: SignOptions): Promise<string>;
  /** Submits a login, as the OpenID provider does, and has it fail. */
  failedLogin(code: FaultCode): Promise<string>;
  /** What the AP hears: `504`, `500` or the fault's code. */
  status(id: string): Promise<string>;
  /** Prompts that went out, as `<id> <attempt>`. */
  asked(): readonly string[];
}

export const useOperations = (
  redis: TestRedis,
  more: Record<string, unknown> = {},
  {
    listen = false,
    workflows = [],
  }: { readonly listen?: boolean; readonly workflows?: readonly string[] } = {},
): OperationsStage => {
  const masterKey = randomBytes(32);
  let started: TestProduct | undefined;
  let folder = '';
  let nextPerson = firstPerson;
  const configuration = {
    sandbox: true,
    subscribers: [
      {
        msisdn: String(firstPerson),
        through: String(firstPerson + 9999),
        sim: { device: { kind: 'simulated', sign: 'never-answers' } },
      },
    ],
    ...more,
    workflows,
    queue: { shards: 2, prefix: redis.prefix.slice(-32) },
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'paraph-cli-'));
    writeFileSync(join(folder, 'configuration.json'), JSON.stringify(configuration));
    const charts = await loadCharts(workflows, folder);
    if (!charts.ok) throw new Error(charts.problems.join('\n'));
    started = await startTestProduct(redis, {
      masterKey,
      configuration,
      operations: true,
      listen,
      charts: charts.value,
    });
  });
  afterAll(async () => {
    await started?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const product = (): TestProduct => {
    if (started === undefined) throw new Error('the service is not up yet');
    return started;
  };
  const env = () => ({
    REDIS_URL: redis.url,
    PARAPH_CONFIG: join(folder, 'configuration.json'),
    PARAPH_MASTER_KEY: masterKey.toString('base64url'),
    PARAPH_DATA: folder,
  });
  const paraph: OperationsStage['paraph'] = (args, options = {}) =>
    run(args, { ...options, env: { ...env(), ...options.env } });
  const json: OperationsStage['json'] = async (args) => {
    const ran = await paraph([...args, '--json']);
    if (ran.exitCode !== 0)
      throw new Error(`${args.join(' ')} ended with ${ran.exitCode}: ${ran.stderr}`);
    return ran.json();
  };
  const somebody = (): string => `+${nextPerson++}`;
  const submit: OperationsStage['submit'] = async (options = {}) => {
    const { body } = await product().post(
      '/rest/service/sign',
      signRequest({ msisdn: somebody(), mode: 'asynch', ...options }),
    );
    return body.MSS_SignatureResp.MSSP_TransID;
  };
  const answer: OperationsStage['answer'] = async (id, attempt, code) => {
    await soon(async () => {
      // Whoever has answered is not asked any more.
      if (!product().asked().includes(`${id} ${attempt}`)) throw new Error('not asked yet');
      const decision = { kind: 'fault', fault: fault(code) } as const;
      const result = await product().api.transactions.answer(id, attempt, decision);
      if (result !== 'accepted') throw new Error(result);
    });
  };
  const status: OperationsStage['status'] = async (id) => {
    const { body } = await product().post('/rest/service/status', statusRequest(id));
    return body.MSS_StatusResp?.Status.StatusCode.Value ?? body.Fault.Code.SubCode.Value.slice(1);
  };
  const fail = async (id: string, code: FaultCode): Promise<string> => {
    await answer(id, 1, code);
    await soon(async () => {
      const { transactions } = await json(['ls', '--state', 'failed', '--limit', '1000']);
      if (!transactions.some((row: { msspTransId: string }) => row.msspTransId === id)) {
        throw new Error('the index does not know it yet');
      }
    });
    return id;
  };
  return {
    product,
    env,
    paraph,
    json,
    somebody,
    submit,
    answer,
    status,
    failed: async (code, options) => fail(await submit(options), code),
    failedLogin: async (code) => {
      const { api, core } = product();
      const apId = loginApId(api.oauth.tenants.main.id);
      const request = core.protocol.parseSign(
        signRequest({ msisdn: somebody(), mode: 'asynch', apId }),
      );
      if (!request.ok) throw new Error(request.fault.detail);
      return fail((await api.transactions.submit(request.value.wire)).msspTransId, code);
    },
    asked: () => product().asked(),
  };
};
