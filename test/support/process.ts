/**
 * A process of the compiled product: all of it, or the part that `paraph api` or `paraph worker`
 * runs.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from './product.ts';
import { type SignOptions, signRequest, statusRequest } from './requests.ts';

export interface ProductProcess {
  readonly child: ChildProcess;
  /** Empty for one without an API. */
  readonly url: string;
  /** All that it has said. */
  output(): string;
  /** What it has logged. */
  lines(): readonly Json[];
  post(operation: 'sign' | 'status', body: object): Promise<Json>;
  /** @returns The id of a request that nobody waits for. */
  submit(options: SignOptions): Promise<string>;
  /** Status code of a transaction, or the code of its fault, such as `_401`. */
  statusOf(id: string): Promise<string>;
  /** Resolves with the exit code when all has been read. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** For `afterEach`: ends those that still run, and waits for their ends. */
export const killProcesses = async (): Promise<void> => {
  await Promise.all(
    [...running].map(async (child) => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }),
  );
};

/**
 * Resolves when the product that runs in the process is ready.
 *
 * @returns Where it listens, empty for one without an API; and what it says, from its start on.
 * @throws With all that it has said, when it ends before.
 */
export const untilReady = async (
  child: ChildProcess,
): Promise<Pick<ProductProcess, 'url' | 'output' | 'lines'>> => {
  let output = '';
  const lines = (): readonly Json[] =>
    output
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  let url: string | undefined;
  await new Promise<void>((resolve, reject) => {
    const look = (chunk: Buffer): void => {
      output += chunk;
      if (url !== undefined) return;
      const greeting = /ready at (http:\S+)\n/.exec(output)?.[1];
      const line = lines().find(({ msg }) => msg === 'ready');
      if (greeting === undefined && line === undefined) return;
      url = greeting ?? line.url ?? '';
      resolve();
    };
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', look);
    child.once('close', () => reject(new Error(output)));
  });
  return { url: url ?? '', output: () => output, lines };
};

/**
 * Resolves when it is ready.
 *
 * @param environment Beside that of the test. Without REDIS_URL it starts a private Redis.
 * @param part Without one, what `npm start` runs.
 * @param options `node` goes before the program, `cwd` is where the release lies.
 * @throws With all that it has said, when it ends before.
 */
export const startProcess = async (
  environment: Readonly<Record<string, string>>,
  part?: 'api' | 'worker',
  { node = [], cwd }: { readonly node?: readonly string[]; readonly cwd?: string } = {},
): Promise<ProductProcess> => {
  const { REDIS_URL: _, ...inherited } = process.env;
  const program = ['dist/src/cli/paraph.js', part ?? 'start'];
  const child = spawn(process.execPath, [...node, ...program], {
    cwd,
    env: { ...inherited, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const { url, output, lines } = await untilReady(child);
  const post: ProductProcess['post'] = async (operation, body) => {
    const response = await fetch(`${url}/rest/service/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.json();
  };
  return {
    child,
    url,
    output,
    lines,
    post,
    submit: async (options) => {
      for (;;) {
        const { MSS_SignatureResp, Fault } = await post(
          'sign',
          signRequest({ ...options, mode: 'asynch' }),
        );
        if (MSS_SignatureResp !== undefined) return MSS_SignatureResp.MSSP_TransID;
        // As applications do, when the machine has no time for all.
        if (!Fault.Detail.includes('not accepted'))
          throw new Error(`Not submitted: ${JSON.stringify(Fault)}`);
        await delay(50);
      }
    },
    statusOf: async (id) => {
      const { MSS_StatusResp, Fault } = await post('status', statusRequest(id));
      return MSS_StatusResp?.Status.StatusCode.Value ?? Fault.Code.SubCode.Value;
    },
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
      return child.exitCode;
    },
  };
};
