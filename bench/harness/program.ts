/**
 * A program of the benchmark in a process of its own: load generators and floors.
 *
 * Parent and child talk over Node's own channel, one question at a time. A child whose parent is
 * gone ends.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';

/** The project's folder, in which every process of a benchmark is started. */
export const project = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Arguments for Node, before the program: with `BENCH_PROFILE=DIR` every process of the service and
 * of the floors leaves a CPU profile in DIR when it ends. Rates are lower then.
 */
export const profileArguments = (): readonly string[] => {
  const folder = process.env.BENCH_PROFILE;
  return folder ? ['--cpu-prof', `--cpu-prof-dir=${resolve(folder)}`] : [];
};

export interface Program<Question, Answer> {
  readonly pid: number;
  /** One at a time. @throws With the child's own words when it failed. */
  ask(question: Question): Promise<Answer>;
  stop(): Promise<void>;
}

type Reply<Answer> = { readonly answer: Answer } | { readonly problem: string };

const stopTimeoutMs = 5000;

/**
 * Starts a TypeScript file and resolves when it takes questions.
 *
 * @param file From the project's folder: `bench/load/http-load.ts`.
 */
export const startProgram = async <Question, Answer>(
  file: string,
  args: readonly string[] = [],
): Promise<Program<Question, Answer>> => {
  // tsx strips the types and leaves the code as it is; nothing of it runs later.
  const child = spawn(
    process.execPath,
    [...profileArguments(), '--import', 'tsx', join(project, file), ...args],
    {
      cwd: project,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    },
  );
  const ended = once(child, 'exit');
  const nextMessage = async (): Promise<unknown> => {
    const waiting = new AbortController();
    const { signal } = waiting;
    try {
      return await Promise.race([
        once(child, 'message', { signal }).then(([message]: unknown[]) => message),
        once(child, 'exit', { signal }).then(() => {
          throw new Error(`${file} ended with ${child.signalCode ?? `status ${child.exitCode}`}`);
        }),
      ]);
    } finally {
      waiting.abort();
    }
  };
  await nextMessage();
  return {
    pid: child.pid ?? 0,
    ask: async (question) => {
      child.send(question as object);
      const reply = (await nextMessage()) as Reply<Answer>;
      if ('problem' in reply) throw new Error(`${file}: ${reply.problem}`);
      return reply.answer;
    },
    stop: async () => {
      if (child.connected) child.disconnect();
      if (await settlesWithin(ended, stopTimeoutMs)) return;
      child.kill('SIGKILL');
      await ended;
    },
  };
};

/** The child's side: answers until the parent lets go. Call it when the program is ready. */
export const serveParent = <Question, Answer>(
  respond: (question: Question) => Promise<Answer>,
): void => {
  process.on('message', (question) => {
    respond(question as Question).then(
      (answer) => process.send?.({ answer } satisfies Reply<Answer>),
      (error: unknown) =>
        process.send?.({
          problem: error instanceof Error ? error.message : String(error),
        } satisfies Reply<Answer>),
    );
  });
  process.on('disconnect', () => process.exit());
  // A parent that was killed in the middle of a message.
  process.on('error', () => process.exit());
  // Ctrl-C reaches the whole group; the parent ends its children in order.
  process.on('SIGINT', () => undefined);
  process.send?.('ready');
};
